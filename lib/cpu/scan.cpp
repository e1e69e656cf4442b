// Running sums and products on the CPU. Sequences that stand alone are computed a few at a time,
// because each addition waits for the one before; those that stand beside each other all together.
//
// The order is that of the elements, so that every instruction set gives the same bits.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/elements.hpp"
#include "cpu/kinds.hpp"
#include "cpu/simd_small.hpp"
#include "cpu/walk.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "cpu/scan.cpp"
#include "hwy/foreach_target.h"  // this file again, for every instruction set
// After it:
#include "cpu/numbers-inl.hpp"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// A product of floats, as totals hold it, is total * power: so none between is too large or too
// small for a double.
struct Power {
  int exponent = 0;
  double factor = 1;
};
// As many factors as a total has room for, once it is settled.
constexpr std::size_t settled_for = 4;

constexpr double usual_most = 0x1p300;

/// Whether a total is too large or too small, but neither 0 nor infinite.
HWY_INLINE bool is_rare(double total) {
  const double magnitude = std::abs(total);
  const bool is_usual = (magnitude > 1 / usual_most) & (magnitude < usual_most);
  return !is_usual & (magnitude > 0) & (magnitude <= std::numeric_limits<double>::max());
}

/// Takes a power of two out of such a total.
inline void settle(double& total, Power& power) {
  const int exponent = std::ilogb(total);
  total = std::ldexp(total, -exponent);
  power.exponent += exponent;
  // Beyond these all outputs are 0, or infinite.
  power.factor = std::ldexp(1.0, std::clamp(power.exponent, -1022, 1023));
}

/// Takes powers of two out of the totals that need it. Most often none does.
inline void settle_all(double* totals, Power* powers, std::size_t count) {
  unsigned rare = 0;
  for (std::size_t k = 0; k < count; ++k) rare |= is_rare(totals[k]) ? 1U : 0U;
  if (rare == 0) return;
  for (std::size_t k = 0; k < count; ++k) {
    if (is_rare(totals[k])) settle(totals[k], powers[k]);
  }
}

/// Value is what totals are kept as: double, or an integer that wraps as the elements do.
template <typename Value, bool is_product>
class Scan {
  static constexpr bool has_powers = is_product && std::is_floating_point_v<Value>;
  // Sequences that stand alone, and elements of each, that are computed together.
  static constexpr std::size_t together = 8;
  static constexpr std::size_t chunk = 256;
  // Sequences beside each other that are computed together.
  static constexpr std::uint64_t beside = 1024;
  // Rows that are asked for before they are computed.
  static constexpr std::uint64_t rows_ahead = 4;
  static constexpr std::uint64_t fetched_max = 4096;  // bytes
  using Totals = std::array<Value, together>;
  // What needs no conversion but between floats and doubles.
  using Element = std::conditional_t<std::is_floating_point_v<Value>, float, Value>;

 public:
  Scan(const ScanKernel& kernel, Inputs inputs, Stores stores)
      : kernel_(kernel),
        size_(size_of(kernel.data_type)),
        input_(inputs.front().data()),
        is_direct_(std::is_floating_point_v<Value> ? kernel.data_type == DataType::Float32
                                                   : size_ == sizeof(Element)),
        stores_(stores),
        along_(kernel.axes[kernel.axis]),
        outer_(walk_of(kernel.axes.begin(), kernel.axes.begin() + axis())),
        inner_(walk_of(kernel.axes.begin() + axis() + 1, kernel.axes.end())),
        numbers_(together * chunk) {}

  std::uint64_t inner() const { return inner_.elements(); }

  /// Sequences that stand alone: `count` from `first` on, one behind the other.
  void run_alone(std::uint64_t first, std::uint64_t count, std::byte* to) {
    const std::uint64_t pitch = along_.extent * size_;
    for (std::uint64_t k = 0; k < count; k += together) {
      const auto rows = static_cast<std::size_t>(std::min<std::uint64_t>(together, count - k));
      run_together(first + k, rows, to + k * pitch, pitch);
    }
  }

  /// Sequences [begin, end) of an outer index.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, Destination to) {
    for (std::uint64_t first = begin; first < end; first += beside) {
      run_beside(outer, first, std::min(end, first + beside), to);
      to.to += beside * size_;
    }
  }

 private:
  using Axes = std::vector<StridedAxis>::const_iterator;

  static Walk<1> walk_of(Axes begin, Axes end) {
    std::vector<WalkAxis<1>> axes;
    for (; begin != end; ++begin) axes.push_back({begin->extent, {begin->stride}});
    return Walk<1>(axes);
  }
  std::ptrdiff_t axis() const { return static_cast<std::ptrdiff_t>(kernel_.axis); }
  std::uint64_t index_of(std::uint64_t i) const {
    return kernel_.from_end ? along_.extent - 1 - i : i;
  }

  static HWY_INLINE Value combined(Value total, Value number) {
    if constexpr (is_product) return total * number;
    return total + number;
  }
  void load_numbers(const std::byte* from, std::uint64_t stride, std::size_t count, Value* to) {
    const bool is_far = stride * size_ >= 4096;
    steps_.add(count * (is_far ? far_steps : 4));
    HWY_NAMESPACE::load(kernel_.data_type, from, stride, count, to);
  }
  void store_numbers(const Value* from, std::size_t count, std::byte* to) const {
    constexpr StoreMode mode =
        std::is_floating_point_v<Value> ? StoreMode::truncates : StoreMode::wraps;
    store<mode, Value>(kernel_.data_type, from, count, to);
  }

  // So few that their totals stay in the nearest cache.
  void run_beside(std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                  const Destination& to) {
    const std::uint64_t from = outer_.offsets(outer)[0];
    totals_.assign(end - begin, Value{is_product});
    powers_.assign(has_powers ? end - begin : 0, {});
    for (std::uint64_t i = 0; i < along_.extent; ++i) {
      const std::uint64_t index = index_of(i);
      OutputBytes output(to.to + index * to.pitch, stores_);
      std::size_t done = 0;
      inner_.run(begin, end, [&](const Walk<1>::Offsets& at, std::uint64_t count) {
        const std::byte* input = input_ + (from + index * along_.stride + at[0]) * size_;
        fetch_ahead(input, i, count);
        for (std::uint64_t k = 0; k < count; k += chunk) {
          const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(chunk, count - k));
          row(input + k * inner_.steps()[0] * size_, part, done, output.take(part * size_));
          done += part;
        }
      });
      output.finish();
      if (has_powers && i % settled_for == settled_for - 1) settle_all();
    }
  }

  // Chunks end where lines of the first output do, from either end.
  void run_together(std::uint64_t first, std::size_t rows, std::byte* to, std::uint64_t pitch) {
    constexpr std::uint64_t line = 64;
    std::array<const std::byte*, together> inputs;
    for (std::size_t r = 0; r < rows; ++r)
      inputs[r] = input_ + outer_.offsets(first + r)[0] * size_;
    Totals totals;
    totals.fill(Value{is_product});
    std::array<Power, together> powers;
    const std::uint64_t behind = reinterpret_cast<std::uintptr_t>(to) % line / size_;
    for (std::uint64_t done = 0; done < along_.extent;) {
      std::uint64_t begin = done, end = 0;
      if (kernel_.from_end) {
        end = along_.extent - done;
        const std::uint64_t whole = (end - 1 + behind) / chunk * chunk;
        begin = whole > behind ? whole - behind : 0;
      } else {
        end = std::min(along_.extent, (begin + behind) / chunk * chunk + chunk - behind);
      }
      const auto count = static_cast<std::size_t>(end - begin);
      for (std::size_t r = 0; r < rows; ++r)
        load_numbers(inputs[r] + begin * along_.stride * size_, along_.stride, count,
                     &numbers_[r * chunk]);
      scan_chunk(count, totals, powers);
      for (std::size_t r = 0; r < rows; ++r) {
        OutputBytes output(to + r * pitch + begin * size_, stores_);
        store_numbers(&numbers_[r * chunk], count, output.take(count * size_));
        output.finish();
      }
      done += count;
    }
  }

  void scan_chunk(std::size_t count, Totals& totals, std::array<Power, together>& powers) {
    const std::size_t piece = has_powers ? settled_for : count;
    for (std::size_t i = 0; i < count; i += piece) {
      const std::size_t part = std::min(piece, count - i);
      Value* at = numbers_.data() + (kernel_.from_end ? count - i - part : i);
      if (kernel_.is_exclusive) {
        scan_piece<true>(at, part, totals, powers);
      } else {
        scan_piece<false>(at, part, totals, powers);
      }
      if constexpr (has_powers) {
        HWY_NAMESPACE::settle_all(totals.data(), powers.data(), together);
      }
    }
  }

  template <bool is_exclusive>
  void scan_piece(Value* numbers, std::size_t count, Totals& totals,
                  const std::array<Power, together>& powers) const {
    const std::ptrdiff_t step = kernel_.from_end ? -1 : 1;
    Value* at = kernel_.from_end ? numbers + count - 1 : numbers;
    Totals now = totals;
    const auto next = [&](std::size_t r) HWY_ATTR {
      Value* number = at + r * chunk;
      const Value before = now[r];
      now[r] = combined(before, *number);
      *number = is_exclusive ? before : now[r];
      if constexpr (has_powers) *number *= powers[r].factor;
    };
    for (std::size_t i = 0; i < count; ++i, at += step) {
      [&]<std::size_t... r>(std::index_sequence<r...>) HWY_ATTR {
        (next(r), ...);
      }
      (std::make_index_sequence<together>());
    }
    totals = now;
  }

  // The next element of `count` sequences from `first` on, read and written as they stand.
  template <bool is_exclusive>
  void direct_row(const std::byte* input, std::size_t count, std::size_t first, std::byte* output) {
    Value* HWY_RESTRICT totals = &totals_[first];
    for (std::size_t k = 0; k < count; ++k) {
      const Value before = totals[k];
      const Value total =
          combined(before, static_cast<Value>(cpu::load<Element>(input + k * sizeof(Element))));
      totals[k] = total;
      Value result = is_exclusive ? before : total;
      if constexpr (has_powers) result *= powers_[first + k].factor;
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
    Value* HWY_RESTRICT numbers = numbers_.data();
    Value* HWY_RESTRICT totals = &totals_[first];
    load_numbers(input, inner_.steps()[0], count, numbers);
    if (kernel_.is_exclusive) {
      for (std::size_t k = 0; k < count; ++k) {
        const Value before = totals[k];
        totals[k] = combined(before, numbers[k]);
        numbers[k] = before;
      }
    } else {
      for (std::size_t k = 0; k < count; ++k)
        numbers[k] = totals[k] = combined(totals[k], numbers[k]);
    }
    if constexpr (has_powers) {
      for (std::size_t k = 0; k < count; ++k) numbers[k] *= powers_[first + k].factor;
    }
    store_numbers(numbers, count, output);
  }

  void settle_all() {
    if constexpr (has_powers)
      HWY_NAMESPACE::settle_all(totals_.data(), powers_.data(), powers_.size());
  }

  // Asks for the row that comes in a while: it is far from this one.
  void fetch_ahead(const std::byte* input, std::uint64_t i, std::uint64_t count) const {
    if (inner_.steps()[0] != 1 || along_.extent - i <= rows_ahead) return;
    const std::uint64_t ahead = rows_ahead * along_.stride * size_;
    fetch(kernel_.from_end ? input - ahead : input + ahead, std::min(count * size_, fetched_max));
  }

  const ScanKernel& kernel_;
  std::size_t size_;  // of an element
  const std::byte* input_;
  bool is_direct_;  // elements are of type Element
  Stores stores_;
  StridedAxis along_;
  Walk<1> outer_, inner_;
  std::vector<Value> numbers_;
  std::vector<Value> totals_;
  std::vector<Power> powers_;
  Steps steps_;
};

template <typename Value, bool is_product>
void scan_part(const ScanKernel& kernel, Inputs inputs, const Part& part, Stores stores,
               Destinations outputs) {
  Scan<Value, is_product> scan(kernel, inputs, stores);
  const std::uint64_t extent = kernel.axes[kernel.axis].extent;
  if (scan.inner() == 1 && extent > 1) {
    return scan.run_alone(part.begin / extent, part.length / extent, outputs.front().to);
  }
  for_each_sequences(part, extent, scan.inner(), std::array{size_of(kernel.data_type)}, outputs,
                     [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                         Destinations to) { scan.run(outer, begin, end, to.front()); });
}

template <typename Value>
void scan_values(const ScanKernel& kernel, Inputs inputs, const Part& part, Stores stores,
                 Destinations outputs) {
  if (kernel.is_product) return scan_part<Value, true>(kernel, inputs, part, stores, outputs);
  scan_part<Value, false>(kernel, inputs, part, stores, outputs);
}

void ScanPart(const ScanKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  if (info(kernel.data_type).kind == NumberKind::floating)
    return scan_values<double>(kernel, inputs, part, stores, outputs);
  if (size_of(kernel.data_type) < 8)
    return scan_values<std::uint32_t>(kernel, inputs, part, stores, outputs);
  scan_values<std::uint64_t>(kernel, inputs, part, stores, outputs);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/simd_dispatch.hpp"

namespace dmlop::cpu {

PartShape part_shape(const ScanKernel& scan, std::uint64_t bytes) {
  std::uint64_t inner = 1;
  for (std::size_t i = scan.axis + 1; i < scan.axes.size(); ++i) inner *= scan.axes[i].extent;
  return sequences_shape(scan.axes[scan.axis].extent, inner, size_of(scan.data_type), bytes);
}

void run_part(const ScanKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  DMLOP_BEST_SIMD(ScanPart)(kernel, inputs, part, stores, outputs);
}

}  // namespace dmlop::cpu
#endif
