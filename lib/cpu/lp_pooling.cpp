// Lp pooling on the CPU: for a row of outputs the powers of the input rows under it are added up
// column by column, then the columns under each window; both at once for pairs of columns. Nothing
// is ever subtracted: NaN and infinity stay in their windows, and a sum depends on nothing but its
// window.
//
// FLOAT32 is summed in double, which holds |x|^6 of every float; larger P divide by the window's
// largest magnitude first. FLOAT16 is summed in float where that is wide and exact enough.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/elements.hpp"
#include "cpu/execute.hpp"
#include "cpu/simd.hpp"
#include "cpu/window_rows.hpp"
#include "tensor/half.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/lp_pooling.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/norms-inl.hpp"
#include "cpu/powers-inl.hpp"
#include "cpu/simd-inl.hpp"
#include "hwy/cache_control.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// Columns that are summed together: what is worked on stays in the nearest cache.
constexpr Threshold columns_at_once{1024, 5};
// Windows are summed in chunks of so many columns.
constexpr Threshold taps_at_once{1024, 3};
// Larger exponents take a double out of its range.
constexpr std::uint64_t unscaled_p_max = 6;

/// How the windows of a row of outputs are taken.
struct Chunks {
  std::uint64_t outputs = 1;  // that are computed together
  std::uint64_t taps;         // elements of a window that are summed together
  std::uint64_t columns;      // of these outputs
  // Elements far apart are summed by themselves, not with all columns between them.
  bool are_gathered;

  explicit Chunks(const PoolingAxis& width) {
    if (width.window_stride > 0)
      outputs =
          std::clamp<std::uint64_t>(columns_at_once / width.window_stride, 1, width.output_extent);
    taps = std::clamp<std::uint64_t>(taps_at_once / width.dilation, 1, width.window);
    columns = (outputs - 1) * width.window_stride + (taps - 1) * width.dilation + 1;
    are_gathered = columns / 4 > outputs * taps;
    if (!are_gathered) return;
    taps = std::min<std::uint64_t>(width.window, taps_at_once);
    outputs = std::clamp<std::uint64_t>(columns_at_once / taps, 1, width.output_extent);
    columns = outputs * taps;
  }
};

/// Sums in lanes of type T. Double reads rows of floats, float rows of halves; rows that are not
/// such, or not packed, are converted to them first.
template <typename T>
class LpPooling {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  using Element = std::conditional_t<sizeof(T) == 8, float, std::uint16_t>;

 public:
  LpPooling(const LpPoolingKernel& kernel, std::span<const std::byte> input)
      : kernel_(kernel),
        width_(kernel.axes[2]),
        input_(input),
        size_(visit_float(kernel.data_type, [](auto stored) { return sizeof stored; })),
        chunks_(width_),
        direct_(!chunks_.are_gathered && width_.input_stride == 1 && size_ == sizeof(Element)),
        column_steps_(direct_ ? 1 : 1 + page_steps * std::min(column_bytes(), page) / page),
        rows_(kernel) {
    // Whole blocks are read of each tap, and of sums.
    columns_.resize(chunks_.columns + block * lanes());
    taps_.resize(chunks_.taps);
    sums_.resize(chunks_.outputs + block * lanes());
    if (kernel.p > unscaled_p_max) largest_.resize(chunks_.outputs + lanes());
    if (!direct_) converted_.resize(rows_at_once * chunks_.columns);
    if (chunks_.are_gathered) return;
    const std::uint64_t reach = (chunks_.taps - 1) * width_.dilation + 1;
    const std::uint64_t phases = chunks_.outputs == 1 ? 1 : std::min(width_.window_stride, reach);
    phases_.resize(phases * (chunks_.outputs + reach / phases + 1 + block * lanes()));
  }

  template <class P>
  void run(const P& power, std::uint64_t begin, std::uint64_t end, Output& output) {
    // More rows, and more columns, are counted as they are summed.
    const std::uint64_t at_once = std::min(chunks_.outputs, output.room(rows_at_once));
    std::uint64_t row = ~std::uint64_t{0};
    while (begin < end) {
      const std::uint64_t o = begin % width_.output_extent;
      if (begin / width_.output_extent != row) {
        row = begin / width_.output_extent;
        rows_.set(row);
      }
      const std::uint64_t count = std::min({width_.output_extent - o, end - begin, at_once});
      std::byte* to = output.take(count, rows_at_once);
      see_next_rows(o, count);
      compute(power, o, count, to);
      begin += count;
    }
  }

 private:
  static constexpr std::uint64_t page = 4096;
  static constexpr std::uint64_t page_steps = 1024;
  static constexpr D d{};
  static std::size_t lanes() { return hn::Lanes(d); }

  // From one element that is read to the next.
  std::uint64_t column_bytes() const {
    const std::uint64_t columns =
        chunks_.are_gathered ? std::max(width_.window_stride, width_.dilation) : 1;
    return columns * width_.input_stride * size_;
  }

  // Vectors that are worked on together: additions wait for one another in each alone.
  static constexpr std::size_t block = 4;
  struct Block {
    V v0, v1, v2, v3;

    static HWY_INLINE Block zero() { return {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)}; }
    static HWY_INLINE Block load(const T* from) {
      const std::size_t n = lanes();
      return {hn::LoadU(d, from), hn::LoadU(d, from + n), hn::LoadU(d, from + 2 * n),
              hn::LoadU(d, from + 3 * n)};
    }
    HWY_INLINE void store(T* to) const {
      hn::StoreU(v0, d, to);
      hn::StoreU(v1, d, to + lanes());
      hn::StoreU(v2, d, to + 2 * lanes());
      hn::StoreU(v3, d, to + 3 * lanes());
    }
  };

  template <int p>
  void compute(const Power<p>& power, std::uint64_t o, std::uint64_t count, std::byte* output) {
    std::uint64_t done = 0;
#if HWY_TARGET != HWY_SCALAR
    if (are_pairs(o, count)) done = compute_pairs(power, o, count, output);
#endif
    if (done < count) compute_windows(power, o + done, count - done, output + done * size_);
  }

  // Whether the windows of the outputs are pairs of columns, side by side and in rows as they are.
  bool are_pairs(std::uint64_t o, std::uint64_t count) const {
    const Int first = static_cast<Int>(2 * o) - width_.start_padding;
    const Int last = first + static_cast<Int>(2 * count);
    return width_.window == 2 && width_.window_stride == 2 && width_.dilation == 1 && first >= 0 &&
           last <= static_cast<Int>(width_.input_extent) && direct_ && rows_.size() <= rows_at_once;
  }

#if HWY_TARGET != HWY_SCALAR
  // The first outputs, as many as whole blocks hold; how many these are. Nothing is kept between
  // reading and writing.
  template <class P>
  std::uint64_t compute_pairs(const P& power, std::uint64_t o, std::uint64_t count,
                              std::byte* output) {
    std::array<const std::byte*, rows_at_once> sources;
    const Int first = static_cast<Int>(2 * o) - width_.start_padding;
    WindowRows::Offsets room;
    const auto offsets = rows_.offsets(0, rows_.size(), room);
    for (std::size_t i = 0; i < offsets.size(); ++i) sources[i] = row_at(offsets[i], first, 0, i);
    const auto rows = std::span(sources).first(rows_.size());
    std::uint64_t k = 0;
    for (; k + 2 * lanes() <= count; k += 2 * lanes()) {
      fetch_next_rows(k, 2 * lanes());
      const Block columns = with_rows(power, Block::zero(), rows, 2 * k);
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
    const Range all = taps_inside(o, count);
    for (std::uint64_t tap = all.begin; tap < all.end; tap += taps_.size()) {
      const std::uint64_t taps = set_taps(power, {0, rows_.size()}, o, count, all, tap);
      const bool last = tap + taps == all.end;
      for (std::size_t k = 0; k < count; k += block * lanes()) {
        Block sum = tap == all.begin ? Block::zero() : Block::load(&sums_[k]);
        for (std::size_t t = 0; t < taps; ++t) {
          const Block column = Block::load(taps_[t] + k);
          sum.v0 = hn::Add(sum.v0, column.v0);
          sum.v1 = hn::Add(sum.v1, column.v1);
          sum.v2 = hn::Add(sum.v2, column.v2);
          sum.v3 = hn::Add(sum.v3, column.v3);
        }
        if (!last) {
          sum.store(&sums_[k]);
          continue;
        }
        fetch_next_rows(k, block * lanes());
        store_roots(power, d, sum.v0, sum.v1, size_, output, k, count);
        store_roots(power, d, sum.v2, sum.v3, size_, output, k + 2 * lanes(), count);
      }
    }
  }

  struct Scaled {
    std::uint64_t p;
  };

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
    const Range all = taps_inside(o, count);
    for (std::uint64_t row = 0; row < rows_.size(); ++row) {
      for (std::uint64_t tap = all.begin; tap < all.end; tap += taps_.size()) {
        const std::uint64_t taps = set_taps(Power<1>{}, {row, row + 1}, o, count, all, tap);
        for (std::size_t t = 0; t < taps; ++t) {
          for (std::size_t k = 0; k < count; k += lanes()) action(k, hn::LoadU(d, taps_[t] + k));
        }
      }
    }
  }

  /// Rows of the windows of an output row, or elements of a window along its width.
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
  };

  // The elements that are not in padding in all windows of outputs [o, o + count), at least one:
  // the others add 0. Of a window that is no larger than a chunk all are summed.
  Range taps_inside(std::uint64_t o, std::uint64_t count) const {
    if (width_.window == taps_.size()) return {0, width_.window};
    const Int first = static_cast<Int>(o * width_.window_stride) - width_.start_padding;
    const Int last = first + static_cast<Int>((count - 1) * width_.window_stride);
    const std::uint64_t begin =
        std::min(elements_before(-last, width_.dilation), width_.window - 1);
    const std::uint64_t end = elements_before(
        rows_.size() == 0 ? 0 : static_cast<Int>(width_.input_extent) - first, width_.dilation);
    return {begin, std::clamp(end, begin + 1, width_.window)};
  }

  // Sums the columns under elements [first_tap, first_tap + the result) of the windows of outputs
  // [o, o + count) and sets taps_: taps_[t][k] is the column under element first_tap + t of output
  // o + k. More than `count` may be read of each.
  template <class P>
  std::uint64_t set_taps(const P& power, const Range& rows, std::uint64_t o, std::uint64_t count,
                         const Range& all, std::uint64_t first_tap) {
    const std::uint64_t taps = std::min<std::uint64_t>(taps_.size(), all.end - first_tap);
    const Int first = static_cast<Int>(o * width_.window_stride + first_tap * width_.dilation) -
                      width_.start_padding;
    if (chunks_.are_gathered) {
      sum_gathered(power, rows, first, taps, count);
      for (std::size_t t = 0; t < taps; ++t) taps_[t] = columns_.data() + t * count;
      return taps;
    }
    const std::uint64_t stride = count == 1 ? 1 : width_.window_stride;
    const std::uint64_t reach = (taps - 1) * width_.dilation + 1;
    const std::uint64_t columns = (count - 1) * stride + reach;
    sum_columns(power, rows, first, columns);
    if (stride == 1) {
      for (std::size_t t = 0; t < taps; ++t) taps_[t] = columns_.data() + t * width_.dilation;
      return taps;
    }
    const std::uint64_t pitch = count + reach / stride + 1 + block * lanes();
    for (std::size_t t = 0; t < taps; ++t) {
      const std::uint64_t column = t * width_.dilation;
      taps_[t] = phases_.data() + column % stride * pitch + column / stride;
    }
    const std::uint64_t phases = std::min(stride, reach);
    if (stride == 2 && lanes() > 1) {
      split_by_2(columns, phases, pitch);
    } else {
      split(columns, stride, phases, pitch);
    }
    return taps;
  }

  // phases_[phase * pitch + i] = columns_[i * stride + phase]
  void split(std::uint64_t columns, std::uint64_t stride, std::uint64_t phases,
             std::uint64_t pitch) {
    for (std::size_t phase = 0; phase < phases; ++phase) {
      T* to = phases_.data() + phase * pitch;
      for (std::size_t at = phase; at < columns; at += stride) *to++ = columns_[at];
    }
  }

  void split_by_2(std::uint64_t columns, std::uint64_t phases, std::uint64_t pitch) {
#if HWY_TARGET != HWY_SCALAR
    for (std::size_t at = 0; at < columns; at += 2 * lanes()) {
      const V low = hn::LoadU(d, &columns_[at]), high = hn::LoadU(d, &columns_[at + lanes()]);
      hn::StoreU(hn::ConcatEven(d, high, low), d, &phases_[at / 2]);
      if (phases > 1) hn::StoreU(hn::ConcatOdd(d, high, low), d, &phases_[pitch + at / 2]);
    }
#else
    split(columns, 2, phases, pitch);
#endif
  }

  // columns_[i] = sum over `rows` of the powers at column first + i, for i < columns; 0 in padding.
  template <class P>
  void sum_columns(const P& power, const Range& rows, Int first, std::uint64_t columns) {
    const Int extent = static_cast<Int>(width_.input_extent);
    const Int first_inside = std::clamp<Int>(first, 0, extent);
    const Int last = std::clamp<Int>(first + static_cast<Int>(columns), first_inside, extent);
    const auto before =
        static_cast<std::size_t>(std::clamp<Int>(-first, 0, static_cast<Int>(columns)));
    const auto inside = static_cast<std::size_t>(last - first_inside);
    std::fill_n(columns_.begin(), before, T{0});
    std::fill(columns_.begin() + static_cast<Int>(rows_.size() == 0 ? 0 : before + inside),
              columns_.begin() + static_cast<Int>(columns), T{0});
    sum_rows(power, rows, &columns_[before], inside, [&](std::uint64_t row, std::size_t slot) {
      return row_at(row, first_inside, inside, slot);
    });
  }

  // columns_[t * count + k] = the same at column first + t * dilation + k * stride of the windows.
  // As a function of its own it leaves the registers to the loops that most windows take.
  template <class P>
  HWY_NOINLINE void sum_gathered(const P& power, const Range& rows, Int first, std::uint64_t taps,
                                 std::uint64_t count) {
    if (rows_.size() == 0) std::fill_n(columns_.begin(), taps * count, T{0});
    sum_rows(power, rows, columns_.data(), taps * count, [&](std::uint64_t row, std::size_t slot) {
      return gathered(row, first, taps, count, slot);
    });
  }

  // Sums the powers of `count` elements of all rows; read(row, slot) gives those of one.
  template <class P, class Read>
  void sum_rows(const P& power, const Range& rows, T* sums, std::size_t count, Read&& read) {
    const std::uint64_t row_steps = far_steps + count * column_steps_;
    WindowRows::Offsets room;
    std::array<const std::byte*, rows_at_once> sources;
    for (std::uint64_t row = rows.begin; row < rows.end; row += rows_at_once) {
      const auto offsets = rows_.offsets(row, std::min(rows_at_once, rows.end - row), room);
      steps_.add(offsets.size() * row_steps);
      for (std::size_t i = 0; i < offsets.size(); ++i) sources[i] = read(offsets[i], i);
      add_rows(power, std::span(sources).first(offsets.size()), count, row == rows.begin, sums);
    }
  }

  // The elements of a row from column `begin` on.
  const std::byte* row_at(std::uint64_t row, Int begin, std::size_t count, std::size_t slot) {
    const std::byte* from =
        input_.data() + (row + static_cast<std::uint64_t>(begin) * width_.input_stride) * size_;
    if (direct_) return from;
    return converted(from, count, slot);
  }

  // A function of its own for the same reason.
  HWY_NOINLINE const std::byte* converted(const std::byte* from, std::size_t count,
                                          std::size_t slot) {
    Element* to = converted_at(slot);
    for (std::size_t i = 0; i < count; ++i, from += width_.input_stride * size_)
      to[i] = element_at(from);
    return reinterpret_cast<const std::byte*>(to);
  }

  // The elements of a row under `count` windows, one tap after the other; the first is at `first`.
  const std::byte* gathered(std::uint64_t row, Int first, std::uint64_t taps, std::uint64_t count,
                            std::size_t slot) {
    Element* to = converted_at(slot);
    for (std::uint64_t t = 0; t < taps; ++t) {
      auto column = static_cast<std::uint64_t>(first) + t * width_.dilation;
      for (std::uint64_t k = 0; k < count; ++k, column += width_.window_stride) {
        // A column in front of the row is a very large number here.
        const bool is_inside = column < width_.input_extent;
        *to++ = is_inside ? element_at(input_.data() + (row + column * width_.input_stride) * size_)
                          : Element{0};
      }
    }
    return reinterpret_cast<const std::byte*>(converted_at(slot));
  }

  Element* converted_at(std::size_t slot) {
    return &converted_[slot * (converted_.size() / rows_at_once)];
  }

  Element element_at(const std::byte* from) const {
    if (size_ == sizeof(Element)) {
      Element element;
      std::memcpy(&element, from, sizeof element);
      return element;
    }
    std::uint16_t half;
    std::memcpy(&half, from, sizeof half);
    return static_cast<Element>(half_to_float(half));
  }

  // The sum and the powers of the rows at columns from `at` on.
  template <class P>
  static HWY_INLINE Block with_rows(const P& power, Block sum,
                                    std::span<const std::byte* const> rows, std::size_t at) {
    const std::size_t step = lanes() * sizeof(Element);
    for (const std::byte* row : rows) {
      const std::byte* from = row + at * sizeof(Element);
      sum.v0 = power.add(d, sum.v0, widened(load(elements, from)));
      sum.v1 = power.add(d, sum.v1, widened(load(elements, from + step)));
      sum.v2 = power.add(d, sum.v2, widened(load(elements, from + 2 * step)));
      sum.v3 = power.add(d, sum.v3, widened(load(elements, from + 3 * step)));
    }
    return sum;
  }

  // Adds powers of the rows to sums[0, count), or sets these where they are fresh.
  template <class P>
  void add_rows(const P& power, std::span<const std::byte* const> rows, std::size_t count,
                bool fresh, T* sums) {
    std::size_t at = 0;
    for (; at + block * lanes() <= count; at += block * lanes()) {
      const Block sum = fresh ? Block::zero() : Block::load(sums + at);
      with_rows(power, sum, rows, at).store(sums + at);
    }
    for (; at < count; at += lanes()) {
      const std::size_t part = std::min(count - at, lanes());
      const auto* old = reinterpret_cast<const std::byte*>(sums + at);
      V sum = fresh ? hn::Zero(d) : load_part(d, old, part);
      for (const std::byte* row : rows) {
        const auto x = load_part(elements, row + at * sizeof(Element), part);
        sum = power.add(d, sum, widened(x));
      }
      store_part(sum, d, reinterpret_cast<std::byte*>(sums + at), part);
    }
  }

  // What the next row of outputs reads under [o, o + count) and this one does not.
  void see_next_rows(std::uint64_t o, std::uint64_t count) {
    next_rows_ = 0;
    if (!direct_) return;
    const PoolingAxis& height = kernel_.axes[1];
    const Int begin = static_cast<Int>(o * width_.window_stride) - width_.start_padding;
    const auto first = static_cast<std::uint64_t>(std::max<Int>(begin, 0));
    const std::uint64_t columns = std::min<std::uint64_t>(
        (count - 1) * width_.window_stride + width_.reach(), columns_at_once);
    next_bytes_ = columns * size_;
    const std::uint64_t fresh =
        std::min<std::uint64_t>({rows_.size(), height.window_stride, rows_at_once});
    WindowRows::Offsets room;
    for (const std::uint64_t row : rows_.offsets(rows_.size() - fresh, fresh, room)) {
      const std::uint64_t at = (row + height.window_stride * height.input_stride + first) * size_;
      const std::uint64_t left = input_.size() - std::min<std::uint64_t>(at, input_.size());
      if (next_bytes_ <= left) next_[next_rows_++] = input_.data() + at;
    }
  }

  // Asks for those of them that are below `count` outputs from k on. A few at a time, so that the
  // memory works while outputs are computed.
  HWY_INLINE void fetch_next_rows(std::size_t k, std::size_t count) const {
    constexpr std::size_t line = 64;
    const std::size_t each = width_.window_stride * size_;
    const std::size_t end = std::min<std::size_t>(next_bytes_, (k + count) * each);
    for (std::size_t row = 0; row < next_rows_; ++row) {
      for (std::size_t at = k * each; at < end; at += line) hwy::Prefetch(next_[row] + at);
    }
  }

  static constexpr hn::Rebind<Element, D> elements{};

  static HWY_INLINE V widened(hn::Vec<hn::Rebind<Element, D>> v) {
    if constexpr (sizeof(T) == 8) {
      return hn::PromoteTo(d, v);
    } else {
      return float_from_half(d, v);
    }
  }

 public:
  static Scaled scaled(std::uint64_t p) {
    return {p};
  }

 private:
  const LpPoolingKernel& kernel_;
  const PoolingAxis& width_;
  std::span<const std::byte> input_;
  std::size_t size_;  // of an element: FLOAT32 or FLOAT16
  Chunks chunks_;
  bool direct_;                                        // rows are read where they are
  std::uint64_t column_steps_;                         // of reading an element of a row
  std::array<const std::byte*, rows_at_once> next_{};  // what the next row reads of input rows
  std::size_t next_rows_ = 0;
  std::uint64_t next_bytes_ = 0;  // of each
  WindowRows rows_;               // of the windows of the current output row
  Steps steps_;
  std::vector<T> columns_;
  std::vector<T> phases_;  // the columns by their place in the window stride
  std::vector<const T*> taps_;
  std::vector<T> sums_;
  std::vector<T> largest_;
  std::vector<Element> converted_;
};

// The relative error of a sum grows by 2^-24 with every row and column: so few do not reach a
// half's last place.
bool sums_in_float(const LpPoolingKernel& kernel) {
  constexpr std::uint64_t most = 1024;
  const std::uint64_t depth = std::min(most + 1, kernel.axes[0].window);
  const std::uint64_t height = std::min(most + 1, kernel.axes[1].window);
  const std::uint64_t width = std::min(most + 1, kernel.axes[2].window);
  return kernel.data_type == DataType::Float16 && kernel.p <= 4 && depth * height + width <= most;
}

template <typename T>
void pool(const LpPoolingKernel& kernel, std::span<const std::byte> input, std::uint64_t begin,
          std::uint64_t end, Output& output) {
  LpPooling<T> pooling(kernel, input);
  switch (kernel.p) {
    case 1:
      return pooling.run(Power<1>{}, begin, end, output);
    case 2:
      return pooling.run(Power<2>{}, begin, end, output);
    case 3:
      return pooling.run(Power<3>{}, begin, end, output);
    case 4:
      return pooling.run(Power<4>{}, begin, end, output);
    default:
      break;
  }
  if constexpr (sizeof(T) == 8) {
    if (kernel.p <= unscaled_p_max) return pooling.run(Power<0>{kernel.p}, begin, end, output);
    pooling.run(LpPooling<T>::scaled(kernel.p), begin, end, output);
  }
}

void Pool(const LpPoolingKernel& kernel, std::span<const std::byte> input, std::uint64_t begin,
          std::uint64_t end, Output& output) {
  if (sums_in_float(kernel)) return pool<float>(kernel, input, begin, end, output);
  pool<double>(kernel, input, begin, end, output);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

void execute_lp_pooling(const LpPoolingKernel& kernel, Inputs inputs, std::uint64_t begin,
                        std::uint64_t end, Output& output) {
  DMLOP_BEST_SIMD(Pool)(kernel, inputs[0], begin, end, output);
}

}  // namespace dmlop::cpu
#endif
