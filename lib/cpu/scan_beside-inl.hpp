// Scans of sequences that stand beside each other: all together, a row of elements at a time.
// Included once per instruction set.
#if defined(DMLOP_CPU_SCAN_BESIDE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_SCAN_BESIDE_INL
#undef DMLOP_CPU_SCAN_BESIDE_INL
#else
#define DMLOP_CPU_SCAN_BESIDE_INL
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/threshold.hpp"
#include "cpu/elements.hpp"
#include "cpu/scan_elements-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

template <typename Value, bool is_product>
class BesideScan : ScanElements<Value, is_product> {
  using Base = ScanElements<Value, is_product>;
  using Base::chunk;
  using Base::combined;
  using Base::extent_;
  using Base::first_of;
  using Base::has_powers;
  using Base::is_direct_;
  using Base::kernel_;
  using Base::load_numbers;
  using Base::result_of;
  using Base::size_;
  using Base::start_of;
  using Base::steps_;
  using Base::store_numbers;
  using Base::stores_;
  using Base::stride_;
  using Base::value_of;
  using typename Base::Element;
  // Sequences that are computed together.
  static constexpr Threshold beside{1024, 5};
  // Rows that are asked for before they are computed.
  static constexpr std::uint64_t rows_ahead = 4;
  static constexpr std::uint64_t fetched_max = 4096;  // bytes
  // Numbers of short rows that are computed at a time.
  static constexpr std::size_t packed_numbers = 2 * chunk;

 public:
  BesideScan(const ScanKernel& kernel, Inputs inputs, Stores stores)
      : Base(kernel, inputs, stores), inner_(kernel.axes.inner), numbers_(packed_numbers) {}

  /// What block `block` of sequences [begin, end) of an outer index comes to.
  HWY_NOINLINE void add_up(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                           const ScanBlocks& blocks, std::uint64_t block, ScanStart* to) {
    const std::uint64_t first = block * blocks.length;
    const std::uint64_t last = std::min(extent_, first + blocks.length);
    const std::byte* from = first_of(outer);
    begin_beside(end - begin);
    if (are_rows_packed(end - begin)) {
      add_up_packed(from, first, last);
    } else {  // as outputs that nobody reads
      std::vector<std::byte> row((end - begin) * size_);
      run_rows(outer, begin, end, first, last, {row.data(), 0});
    }
    for (std::size_t k = 0; k < totals_.size(); ++k) to[k] = start_of(k);
  }

  /// A block of sequences [begin, end) of an outer index; `starts` are theirs.
  HWY_NOINLINE void run_block(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                              const ScanBlocks& blocks, std::uint64_t block,
                              const ScanStart* starts, Destination to) {
    const std::uint64_t first = block * blocks.length;
    const std::uint64_t last = std::min(extent_, first + blocks.length);
    for (; begin < end; begin += beside, to.to += beside * size_) {
      const std::uint64_t count = std::min<std::uint64_t>(end - begin, beside);
      begin_beside(count);
      for (std::uint64_t k = 0; k < count; ++k, ++starts) {
        totals_[k] = value_of(*starts);
        if constexpr (has_powers) {
          exponents_[k] = starts->exponent;
          powers_[k] = power_of(starts->exponent);
        }
      }
      run_rows(outer, begin, begin + count, first, last, to);
    }
  }

  /// Sequences [begin, end) of an outer index.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destination to) {
    for (std::uint64_t first = begin; first < end; first += beside) {
      run_beside(outer, first, std::min<std::uint64_t>(end, first + beside), to);
      to.to += beside * size_;
    }
  }

 private:
  ScanStart start_of(std::size_t k) const {
    return start_of(totals_[k], has_powers ? exponents_[k] : 0);
  }
  // With nothing so far.
  void begin_beside(std::size_t count) {
    totals_.assign(count, Value{is_product});
    exponents_.assign(has_powers ? count : 0, 0);
    powers_.assign(has_powers ? count : 0, 1);
  }

  // Whether short rows of all sequences follow each other.
  bool are_rows_packed(std::uint64_t width) const {
    constexpr Threshold width_most{64, 3};
    return width == inner_.elements() && width == stride_ && width <= width_most &&
           inner_.stretch() == width && inner_.steps()[0] == 1;
  }

  // So many of them are computed at a time.
  static std::uint64_t packed_rows(std::uint64_t width) {
    return packed_numbers / width / settled_for * settled_for;
  }

  // The elements of such rows [first, last), to totals_.
  HWY_NOINLINE void add_up_packed(const std::byte* from, std::uint64_t first, std::uint64_t last) {
    const std::size_t width = totals_.size();
    const std::uint64_t rows = packed_rows(width);
    for (std::uint64_t i = first; i < last; i += rows) {
      const auto count = static_cast<std::size_t>(std::min(rows, last - i));
      load_numbers(from + i * width * size_, 1, count * width, numbers_.data());
      for (std::size_t r = 0; r < count; ++r) {
        const Value* HWY_RESTRICT numbers = &numbers_[r * width];
        Value* HWY_RESTRICT totals = totals_.data();
        for (std::size_t k = 0; k < width; ++k) totals[k] = combined(totals[k], numbers[k]);
        if (r % settled_for == settled_for - 1) settle_beside();
      }
    }
  }

  // So few that their totals stay in the nearest cache.
  void run_beside(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                  const Destination& to) {
    begin_beside(end - begin);
    run_rows(outer, begin, end, 0, extent_, to);
  }

  // Elements [first, last) of these sequences, from totals_ on. `to` is that of the first.
  HWY_NOINLINE void run_rows(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                             std::uint64_t first, std::uint64_t last, const Destination& to) {
    const std::byte* from = first_of(outer);
    if constexpr (std::is_floating_point_v<Value>) {
      if (are_rows_packed(end - begin) && to.pitch == (end - begin) * size_)
        return run_packed(from, first, last, to);
    }
    for (std::uint64_t i = 0; i < last - first; ++i) {
      const std::uint64_t row_index = kernel_.from_end ? last - first - 1 - i : i;
      const std::uint64_t index = first + row_index;
      OutputBytes output(to.to + row_index * to.pitch, stores_);
      std::size_t done = 0;
      inner_.run(begin, end, [&](const Walk<1>::Offsets& at, std::uint64_t count) {
        const std::byte* input = from + (index * stride_ + at[0]) * size_;
        if (last - first - i > rows_ahead) fetch_ahead(input, count);
        for (std::uint64_t k = 0; k < count; k += chunk) {
          const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, count - k));
          row(input + k * inner_.steps()[0] * size_, part, done, output.take(part * size_));
          done += part;
        }
      });
      output.finish();
      if (i % settled_for == settled_for - 1) settle_beside();
    }
  }

  // Short rows [first, last) that follow each other, from totals_ on.
  HWY_NOINLINE void run_packed(const std::byte* from, std::uint64_t first, std::uint64_t last,
                               const Destination& to) {
    const std::size_t width = totals_.size();
    const std::uint64_t rows = packed_rows(width);
    for (std::uint64_t done = first; done < last; done += rows) {
      const auto count = static_cast<std::size_t>(std::min(rows, last - done));
      const std::uint64_t begin = kernel_.from_end ? last - (done - first) - count : done;
      load_numbers(from + begin * width * size_, 1, count * width, numbers_.data());
      for (std::size_t r = 0; r < count; ++r) {
        const std::size_t row = kernel_.from_end ? count - 1 - r : r;
        scan_row(&numbers_[row * width], width, 0);
        if (r % settled_for == settled_for - 1) settle_beside();
      }
      OutputBytes output(to.to + (begin - first) * to.pitch, stores_);
      store_numbers(numbers_.data(), count * width, output.take(count * to.pitch));
      output.finish();
    }
  }

  // The next element of `count` sequences from `first` on, read and written as they stand.
  template <bool is_exclusive>
  void direct_row(const std::byte* input, std::size_t count, std::size_t first, std::byte* output) {
    Value* HWY_RESTRICT totals = &totals_[first];
    const double* HWY_RESTRICT powers = powers_.data() + (has_powers ? first : 0);
    for (std::size_t k = 0; k < count; ++k) {
      const Value before = totals[k];
      totals[k] =
          combined(before, static_cast<Value>(cpu::load<Element>(input + k * sizeof(Element))));
      const Value result = result_of(is_exclusive ? before : totals[k], has_powers ? powers[k] : 1);
      cpu::store(output + k * sizeof(Element), static_cast<Element>(result));
    }
  }

  // The next element of `count` sequences from `first` on.
  void row(const std::byte* input, std::size_t count, std::size_t first, std::byte* output) {
    if (is_direct_ && inner_.steps()[0] == 1) {
      steps_.add(count);
      if (kernel_.is_exclusive) return direct_row<true>(input, count, first, output);
      return direct_row<false>(input, count, first, output);
    }
    load_numbers(input, inner_.steps()[0], count, numbers_.data());
    scan_row(numbers_.data(), count, first);
    store_numbers(numbers_.data(), count, output);
  }

  // Numbers of `count` sequences from `first` on become results.
  HWY_NOINLINE void scan_row(Value* HWY_RESTRICT numbers, std::size_t count, std::size_t first) {
    Value* HWY_RESTRICT totals = &totals_[first];
    const double* HWY_RESTRICT powers = powers_.data() + (has_powers ? first : 0);
    if (kernel_.is_exclusive) {
      for (std::size_t k = 0; k < count; ++k) {
        const Value before = totals[k];
        totals[k] = combined(before, numbers[k]);
        numbers[k] = result_of(before, has_powers ? powers[k] : 1);
      }
    } else {
      for (std::size_t k = 0; k < count; ++k) {
        totals[k] = combined(totals[k], numbers[k]);
        numbers[k] = result_of(totals[k], has_powers ? powers[k] : 1);
      }
    }
  }

  HWY_INLINE void settle_beside() {
    if constexpr (has_powers)
      settle_all(totals_.data(), exponents_.data(), powers_.data(), totals_.size());
  }

  // Asks for the row that comes in a while: it is far from this one.
  void fetch_ahead(const std::byte* input, std::uint64_t count) const {
    if (inner_.steps()[0] != 1) return;
    const std::uint64_t ahead = rows_ahead * stride_ * size_;
    fetch(kernel_.from_end ? input - ahead : input + ahead, std::min(count * size_, fetched_max));
  }

  Walk<1> inner_;
  std::vector<Value> numbers_;
  // What sequences have come to.
  std::vector<Value> totals_;
  std::vector<std::int64_t> exponents_;
  std::vector<double> powers_;
};

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
