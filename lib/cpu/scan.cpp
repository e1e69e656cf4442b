// Running sums and products on the CPU, of sequences that stand beside each other at a time.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/kinds.hpp"
#include "cpu/walk.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::cpu {
namespace {

/// What sums of elements are kept as: double, or an integer that wraps as they do.
template <typename T>
struct Total {
  using Type = double;
};
template <typename T>
requires std::is_integral_v<T>
struct Total<T> {
  using Type = std::conditional_t<(sizeof(T) < 8), std::uint32_t, std::uint64_t>;
};

template <typename T>
typename Total<T>::Type read(const std::byte* from) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(load<std::uint16_t>(from));
  } else {
    return static_cast<typename Total<T>::Type>(load<T>(from));
  }
}

template <typename T>
void write(std::byte* to, typename Total<T>::Type value) {
  if constexpr (std::is_same_v<T, Half>) {
    store(to, half_from_double(value));
  } else {
    store(to, static_cast<T>(value));
  }
}

template <typename T>
class Scan {
 public:
  using Value = typename Total<T>::Type;

  Scan(const ScanKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        input_(inputs.front().data()),
        along_(kernel.axes[kernel.axis]),
        outer_(walk_of(kernel.axes.begin(), kernel.axes.begin() + axis())),
        inner_(walk_of(kernel.axes.begin() + axis() + 1, kernel.axes.end())) {}

  std::uint64_t inner() const { return inner_.elements(); }

  /// Sequences [begin, end) of an outer index.
  void run(std::uint64_t outer, std::uint64_t begin, std::uint64_t end, const Destination& to) {
    const Value first = kernel_.is_product ? 1 : 0;
    const std::uint64_t from = outer_.offsets(outer)[0];
    if (inner() == 1) return sequence(first, input_ + from * sizeof(T), to);
    totals_.assign(end - begin, first);
    for (std::uint64_t i = 0; i < along_.extent; ++i) {
      const std::uint64_t index = kernel_.from_end ? along_.extent - 1 - i : i;
      std::uint64_t done = 0;
      inner_.run(begin, end, [&](const Walk<1>::Offsets& at, std::uint64_t count) {
        const std::byte* input = input_ + (from + index * along_.stride + at[0]) * sizeof(T);
        row(input, count, &totals_[done], to.to + index * to.pitch + done * sizeof(T));
        done += count;
      });
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

  // A sequence that stands alone.
  void sequence(Value total, const std::byte* input, const Destination& to) {
    const bool is_far = along_.stride * sizeof(T) >= 4096;
    const bool is_product = kernel_.is_product, is_exclusive = kernel_.is_exclusive;
    in_pieces(along_.extent, is_far ? far_steps : 4, [&](std::uint64_t i, std::uint64_t piece_end) {
      for (; i < piece_end; ++i) {
        const std::uint64_t index = kernel_.from_end ? along_.extent - 1 - i : i;
        const Value value = read<T>(input + index * along_.stride * sizeof(T)), before = total;
        total = static_cast<Value>(is_product ? total * value : total + value);
        write<T>(to.to + index * to.pitch, is_exclusive ? before : total);
      }
    });
  }

  // The next element of `count` sequences.
  void row(const std::byte* input, std::uint64_t count, Value* totals, std::byte* output) {
    const std::uint64_t step = inner_.steps()[0];
    const bool is_far = (count == 1 ? along_.stride : step) * sizeof(T) >= 4096;
    steps_.add(count * (is_far ? far_steps : 4));
    const auto loop = [&](auto&& combine, bool is_exclusive) {
      for (std::uint64_t k = 0; k < count; ++k) {
        const Value before = totals[k];
        totals[k] = combine(before, read<T>(input + k * step * sizeof(T)));
        write<T>(output + k * sizeof(T), is_exclusive ? before : totals[k]);
      }
    };
    if (kernel_.is_product) {
      loop([](Value a, Value b) { return static_cast<Value>(a * b); }, kernel_.is_exclusive);
    } else {
      loop([](Value a, Value b) { return static_cast<Value>(a + b); }, kernel_.is_exclusive);
    }
  }

  const ScanKernel& kernel_;
  const std::byte* input_;
  StridedAxis along_;
  Walk<1> outer_, inner_;
  std::vector<Value> totals_;
  Steps steps_;
};

}  // namespace

PartShape part_shape(const ScanKernel& scan, std::uint64_t bytes) {
  std::uint64_t inner = 1;
  for (std::size_t i = scan.axis + 1; i < scan.axes.size(); ++i) inner *= scan.axes[i].extent;
  return sequences_shape(scan.axes[scan.axis].extent, inner, size_of(scan.data_type), bytes);
}

void run_part(const ScanKernel& kernel, Inputs inputs, const Part& part, Stores,
              Destinations outputs) {
  visit_type(kernel.data_type, [&](auto element) {
    Scan<decltype(element)> scan(kernel, inputs);
    for_each_sequences(part, kernel.axes[kernel.axis].extent, scan.inner(),
                       std::array{size_of(kernel.data_type)}, outputs,
                       [&](std::uint64_t outer, std::uint64_t begin, std::uint64_t end,
                           Destinations to) { scan.run(outer, begin, end, to.front()); });
  });
}

}  // namespace dmlop::cpu
