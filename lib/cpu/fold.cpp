// Windows put back into an image, on the CPU: a piece of a row of the image at a time, to which
// each element of the windows adds what it has there. The order is that of the elements of a
// window.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/element_bits.hpp"
#include "cpu/kinds.hpp"
#include "cpu/walk.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::cpu {
namespace {

/// The windows of one axis whose element k lies in the image from index `begin` to before `end`:
/// places [first, last), the first of which has it at index `at`.
struct Covering {
  std::uint64_t first, last, at;
};

Covering covering(const FoldAxis& axis, std::uint64_t k, std::uint64_t begin, std::uint64_t end) {
  // Of the padded image.
  const std::uint64_t shift = k * axis.dilation;
  const std::uint64_t low = begin + axis.start_padding, high = end + axis.start_padding;
  const auto places_before = [&](std::uint64_t index) {
    const std::uint64_t count = index <= shift ? 0 : (index - shift - 1) / axis.window_stride + 1;
    return std::min(count, axis.places);
  };
  const std::uint64_t first = places_before(low);
  return {first, places_before(high), first * axis.window_stride + shift - low};
}

template <typename T>
class Fold {
 public:
  using Sum = std::conditional_t<std::is_integral_v<T>, std::uint64_t, double>;

  Fold(const FoldKernel& kernel, Inputs inputs)
      : kernel_(kernel),
        input_(inputs.front().data()),
        inner_(kernel.axes.back()),
        batches_(kernel.batches) {}

  void run(std::uint64_t begin, std::uint64_t end, Output& output) {
    while (begin < end) {
      const std::uint64_t x = begin % inner_.extent;
      const std::uint64_t count = std::min(
          {end - begin, inner_.extent - x, std::uint64_t{at_once}, output.room(inner_.window)});
      sums_.assign(count, 0);
      place(begin / inner_.extent);
      for (const std::uint64_t base : bases_) add(base, x, count);
      std::byte* to = output.take(count, inner_.window);
      for (std::uint64_t i = 0; i < count; ++i) write(to + i * sizeof(T), sums_[i]);
      begin += count;
    }
  }

 private:
  static constexpr Threshold at_once{2048, 5};

  /// Where the windows over a row begin in the input, for each of their elements outside of it.
  void place(std::uint64_t row) {
    if (row == row_) return;
    row_ = row;
    bases_.assign(1, 0);
    for (std::size_t i = kernel_.axes.size() - 1; i-- > 0;) {
      const FoldAxis& axis = kernel_.axes[i];
      const std::uint64_t x = row % axis.extent;
      row /= axis.extent;
      outer_.clear();
      for (std::uint64_t k = 0; k < axis.window; ++k) {
        steps_.add(4);
        const Covering covers = covering(axis, k, x, x + 1);
        if (covers.first == covers.last) continue;
        for (const std::uint64_t base : bases_) {
          steps_.add(1);
          outer_.push_back(base + k * axis.element_stride + covers.first * axis.place_stride);
        }
      }
      std::swap(bases_, outer_);
    }
    const std::uint64_t batch = batches_.offsets(row)[0];
    for (std::uint64_t& base : bases_) base += batch;
  }

  void add(std::uint64_t base, std::uint64_t begin, std::uint64_t count) {
    for (std::uint64_t k = 0; k < inner_.window; ++k) {
      steps_.add(8);
      const Covering covers = covering(inner_, k, begin, begin + count);
      if (covers.first >= covers.last) continue;
      steps_.add((covers.last - covers.first) * 4);
      const std::uint64_t from =
          base + k * inner_.element_stride + covers.first * inner_.place_stride;
      const std::byte* input = input_ + from * sizeof(T);
      Sum* sums = &sums_[covers.at];
      for (std::uint64_t i = 0; i < covers.last - covers.first; ++i)
        sums[i * inner_.window_stride] += read(input + i * inner_.place_stride * sizeof(T));
    }
  }

  static Sum read(const std::byte* from) {
    if constexpr (std::is_same_v<T, Half>) {
      return half_to_float(load<std::uint16_t>(from));
    } else {
      return static_cast<Sum>(load<T>(from));
    }
  }
  static void write(std::byte* to, Sum sum) {
    if constexpr (std::is_same_v<T, Half>) {
      store(to, half_from_double(sum));
    } else {
      store(to, static_cast<T>(sum));
    }
  }

  const FoldKernel& kernel_;
  const std::byte* input_;
  const FoldAxis& inner_;
  Walk<1> batches_;
  std::uint64_t row_ = ~std::uint64_t{0};
  std::vector<std::uint64_t> bases_, outer_;
  std::vector<Sum> sums_;
  Steps steps_;
};

}  // namespace

PartShape part_shape(const FoldKernel&, std::uint64_t) {
  return {};
}

void run_part(const FoldKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  run_stretch(stores, part, size_of(kernel.data_type), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                visit_type(kernel.data_type, [&](auto element) {
                  Fold<decltype(element)>(kernel, inputs).run(begin, end, output);
                });
              });
}

}  // namespace dmlop::cpu
