// For a row of outputs the powers of the input rows under it are added up column by column
// (cpu/window_columns-inl.hpp), then the columns under each window; both at once for pairs of
// columns. Nothing is ever subtracted: NaN and infinity stay in their windows, and a sum depends on
// nothing but its window.
//
// FLOAT32 is summed in double, which holds |x|^6 of every float; larger P divide by the window's
// largest magnitude first. FLOAT16 is summed in float where that is wide and exact enough.
#include "cpu/window_norms.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu/elements.hpp"
#include "cpu/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/window_norms.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/norms-inl.hpp"
#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "cpu/window_columns-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// Larger exponents take a double out of its range.
constexpr std::uint64_t unscaled_p_max = 6;

/// An exponent beyond that.
struct Scaled {
  std::uint64_t p;
};

/// Computes in lanes of type T (WindowColumns).
template <typename T>
class WindowNorms {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Columns = WindowColumns<T>;
  using Block = typename Columns::Block;
  static constexpr std::size_t block = Columns::block;

 public:
  WindowNorms(const WindowKernel& kernel, std::span<const std::byte> input, ReachedRows& rows)
      : width_(kernel.axes.back().output_extent),
        columns_(kernel, input, rows),
        size_(columns_.element_size()) {
    const std::uint64_t outputs = columns_.chunks().outputs;
    sums_.resize(outputs + block * lanes());  // whole blocks are read
    if (kernel.p > unscaled_p_max) largest_.resize(outputs + lanes());
  }

  template <class P>
  void run(const P& power, std::uint64_t begin, std::uint64_t end, Output& output) {
    // More rows, and more columns, are counted as they are summed.
    const std::uint64_t at_once = std::min(columns_.chunks().outputs, output.room(rows_at_once));
    std::uint64_t row = ~std::uint64_t{0};
    while (begin < end) {
      const std::uint64_t o = begin % width_;
      if (begin / width_ != row) {
        row = begin / width_;
        columns_.set_row(row);
      }
      const std::uint64_t count = std::min({width_ - o, end - begin, at_once});
      std::byte* to = output.take(count, rows_at_once);
      columns_.see_next_rows(o, count);
      compute(power, o, count, to);
      begin += count;
    }
  }

 private:
  static constexpr D d{};
  static std::size_t lanes() { return hn::Lanes(d); }

  template <int p>
  void compute(const Power<p>& power, std::uint64_t o, std::uint64_t count, std::byte* output) {
    std::uint64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    if (columns_.are_pairs(o, count)) done = compute_pairs(power, o, count, output);
#endif
    if (done < count) compute_windows(power, o + done, count - done, output + done * size_);
  }

#if HWY_TARGET != HWY_SCALAR
  // The first outputs, as many as whole blocks hold; how many these are. Nothing is kept between
  // reading and writing.
  template <class P>
  std::uint64_t compute_pairs(const P& power, std::uint64_t o, std::uint64_t count,
                              std::byte* output) {
    typename Columns::Rows room;
    const auto rows = columns_.rows_of_pairs(o, room);
    std::uint64_t k = 0;
    for (; k + 2 * lanes() <= count; k += 2 * lanes()) {
      columns_.fetch_next_rows(k, 2 * lanes());
      const Block columns = Columns::with_rows(power, Block::zero(), rows, 2 * k);
      store_roots(power, d, added_pairs(columns.v0, columns.v1),
                  added_pairs(columns.v2, columns.v3), size_, output, k, count);
    }
    return k;
  }

  static HWY_INLINE V added_pairs(V low, V high) {
    return hn::Add(hn::ConcatEven(d, high, low), hn::ConcatOdd(d, high, low));
  }
#endif

  template <class P>
  void compute_windows(const P& power, std::uint64_t o, std::uint64_t count, std::byte* output) {
    const Range all = columns_.taps_inside(o, count);
    for (std::uint64_t tap = all.begin; tap < all.end; tap += columns_.chunks().taps) {
      const auto taps = columns_.under(power, columns_.rows(), o, count, all, tap);
      const bool last = tap + taps.size() == all.end;
      for (std::size_t k = 0; k < count; k += block * lanes()) {
        Block sum = tap == all.begin ? Block::zero() : Block::load(&sums_[k]);
        for (const T* const under : taps) {
          const Block column = Block::load(under + k);
          sum.v0 = hn::Add(sum.v0, column.v0);
          sum.v1 = hn::Add(sum.v1, column.v1);
          sum.v2 = hn::Add(sum.v2, column.v2);
          sum.v3 = hn::Add(sum.v3, column.v3);
        }
        if (!last) {
          sum.store(&sums_[k]);
          continue;
        }
        columns_.fetch_next_rows(k, block * lanes());
        store_roots(power, d, sum.v0, sum.v1, size_, output, k, count);
        store_roots(power, d, sum.v2, sum.v3, size_, output, k + 2 * lanes(), count);
      }
    }
  }

  // Two passes over the window: its largest magnitude, then the powers of what is relative to it.
  void compute(const Scaled& scaled, std::uint64_t o, std::uint64_t count, std::byte* output) {
    std::fill(largest_.begin(), largest_.end(), T{0});
    for_each_magnitude(o, count, [&](std::size_t k, V x) {
      const V largest = hn::LoadU(d, &largest_[k]);
      // Not Max: NaN is left to the second pass.
      hn::StoreU(hn::IfThenElse(hn::Gt(x, largest), x, largest), d, &largest_[k]);
    });
    std::fill(sums_.begin(), sums_.end(), T{0});
    for_each_magnitude(o, count, [&](std::size_t k, V x) {
      const V largest = hn::LoadU(d, &largest_[k]);
      // The largest itself counts 1, also where it is 0 or infinite; NaN stays NaN.
      const V term = hn::IfThenElse(hn::Eq(x, largest), hn::Set(d, T{1}),
                                    raised(hn::Div(x, largest), scaled.p));
      hn::StoreU(hn::Add(hn::LoadU(d, &sums_[k]), term), d, &sums_[k]);
    });
    for (std::size_t k = 0; k < count; k += lanes()) {
      const V sum = root_of(d, hn::LoadU(d, &sums_[k]), scaled.p);
      const V largest = hn::LoadU(d, &largest_[k]);
      // A window wholly in padding has sum 0 and largest 0.
      store_norms(d, hn::Mul(largest, sum), size_, output, k, count);
    }
  }

  // Calls action(k, |x|) for the outputs from k on and every element of their windows.
  template <class Action>
  void for_each_magnitude(std::uint64_t o, std::uint64_t count, Action&& action) {
    const Range all = columns_.taps_inside(o, count);
    for (std::uint64_t row = 0; row < columns_.rows().end; ++row) {
      for (std::uint64_t tap = all.begin; tap < all.end; tap += columns_.chunks().taps) {
        const Range one{row, row + 1};
        for (const T* const under : columns_.under(Power<1>{}, one, o, count, all, tap)) {
          for (std::size_t k = 0; k < count; k += lanes()) action(k, hn::LoadU(d, under + k));
        }
      }
    }
  }

  std::uint64_t width_;  // outputs of a row
  Columns columns_;
  std::size_t size_;  // of an element
  std::vector<T> sums_;
  std::vector<T> largest_;
};

// The relative error of a sum grows by 2^-24 with every row and column: so few do not reach a
// half's last place.
bool sums_in_float(const WindowKernel& kernel) {
  constexpr std::uint64_t most = 1024;
  const auto size_along = [](const WindowAxis& axis) {
    return std::min(most + 1, std::get<Windows>(axis.reach).size);
  };
  std::uint64_t rows = 1;
  for (std::size_t a = 0; a + 1 < kernel.axes.size(); ++a)
    rows = std::min(most + 1, rows * size_along(kernel.axes[a]));
  return kernel.data_type == DataType::Float16 && kernel.p <= 4 &&
         rows + size_along(kernel.axes.back()) <= most;
}

template <typename T>
void write_norms(const WindowKernel& kernel, std::span<const std::byte> input, ReachedRows& rows,
                 std::uint64_t begin, std::uint64_t end, Output& output) {
  WindowNorms<T> norms(kernel, input, rows);
  switch (kernel.p) {
    case 1:
      return norms.run(Power<1>{}, begin, end, output);
    case 2:
      return norms.run(Power<2>{}, begin, end, output);
    case 3:
      return norms.run(Power<3>{}, begin, end, output);
    case 4:
      return norms.run(Power<4>{}, begin, end, output);
    default:
      break;
  }
  if constexpr (sizeof(T) == 8) {
    if (kernel.p <= unscaled_p_max) return norms.run(Power<0>{kernel.p}, begin, end, output);
    norms.run(Scaled{kernel.p}, begin, end, output);
  }
}

void WriteNorms(const WindowKernel& kernel, std::span<const std::byte> input, ReachedRows& rows,
                std::uint64_t begin, std::uint64_t end, Output& output) {
  if (sums_in_float(kernel)) return write_norms<float>(kernel, input, rows, begin, end, output);
  write_norms<double>(kernel, input, rows, begin, end, output);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void execute_norms(const WindowKernel& kernel, std::span<const std::byte> input,
                   std::uint64_t begin, std::uint64_t end, Output& output) {
  ReachedRows rows(kernel.axes);
  DMLOP_BEST_SIMD(WriteNorms)(kernel, input, rows, begin, end, output);
}

}  // namespace dmlop::cpu
#endif
