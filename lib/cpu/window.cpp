// Windows on the CPU: sums, means and maxima of what outputs reach (cpu/window_reducer.hpp).
// Nearest neighbors are copied (cpu/window_picks.hpp), and norms have vectors of their own
// (cpu/window_norms.hpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/threshold.hpp"
#include "cpu/element_rows.hpp"
#include "cpu/halves.hpp"
#include "cpu/kinds.hpp"
#include "cpu/window_norms.hpp"
#include "cpu/window_picks.hpp"
#include "cpu/window_reducer.hpp"

namespace dmlop::cpu {
namespace {

// A part has no more rows than these, unless they are short.
constexpr Threshold rows_of_part_max{512, 3};

/// Goes through output elements [begin, end). Calls row() at the begin of each output row and
/// put(results, block, output) for each block.
template <typename Reduction, typename Row, typename Put>
void for_each_block(WindowReducer<Reduction>& reducer, const WindowKernel& kernel,
                    std::uint64_t begin, std::uint64_t end, Output& output, Row&& row, Put&& put) {
  const std::uint64_t width = kernel.axes.back().output_extent;
  std::uint64_t current = ~std::uint64_t{0};
  while (begin < end) {
    const std::uint64_t o = begin % width;
    if (begin / width != current) {
      current = begin / width;
      reducer.rows().set(current);
      row();
    }
    const OutputBlock& block = reducer.block_at(o, std::min(width, o + (end - begin)));
    const std::uint64_t count = block.runs.size();
    const auto results = reducer.reduce(block);
    put(results, block, output.take(count, window_output_steps));
    begin += count;
  }
}

/// Calls put(i, mean) for each sum of a block, in a row whose sums have a divisor of their own.
template <typename Put>
void for_each_mean(std::span<const double> sums, const OutputBlock& block, double divisor,
                   Put&& put) {
  const double divisor_of_all = divisor * block.divisor;
  if (block.divisors.empty() && divisor_of_all == 1) {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i]);
  } else if (block.divisors.empty()) {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i] / divisor_of_all);
  } else {
    for (std::size_t i = 0; i < sums.size(); ++i) put(i, sums[i] / (divisor * block.divisors[i]));
  }
}

/// Writes numbers as elements, as put_number() does.
template <typename Element, typename Number>
void put_numbers(std::span<const Number> numbers, std::byte* to) {
  if constexpr (std::is_same_v<Element, Half>) {
    std::array<double, columns_at_once.most()> doubles;
    std::copy(numbers.begin(), numbers.end(), doubles.begin());
    halves_of_doubles(std::span(doubles).first(numbers.size()), to);
  } else if constexpr (std::is_same_v<Element, Number>) {
    std::memcpy(to, numbers.data(), numbers.size_bytes());
  } else {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      put_number<Element>(to + i * sizeof(Element), numbers[i]);
  }
}

template <typename Element>
void sum(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
         Output& output) {
  WindowReducer<WindowSum<Element>> reducer(kernel, inputs[0], output.room(window_output_steps));
  std::vector<double> means(columns_at_once.most());
  const auto put = [&](std::span<const double> sums, const OutputBlock& block, std::byte* to) {
    const double divisor = reducer.rows().divisor();
    if (!std::is_integral_v<Element> && block.divisors.empty())
      return store_means(kernel.data_type, sums.data(), divisor * block.divisor, sums.size(), to);
    for_each_mean(sums, block, divisor, [&](std::size_t i, double mean) {
      // Weights that add up to 1 give an integer but for what double rounds.
      means[i] = std::is_integral_v<Element> ? static_cast<double>(static_cast<float>(mean)) : mean;
    });
    put_numbers<Element>(std::span<const double>(means).first(sums.size()), to);
  };
  for_each_block(
      reducer, kernel, begin, end, output, [] {}, put);
}

/// The scales and zero points of a channel.
template <typename Element>
class Quantization {
 public:
  Quantization(const Requantization& of, Inputs inputs) : of_(of) {
    auto next = inputs.begin() + 1;
    input_scales_ = *next++;
    if (of.input_zero_point_stride) input_zeros_ = *next++;
    output_scales_ = *next++;
    if (of.output_zero_point_stride) output_zeros_ = *next;
  }

  void set(std::uint64_t channel) {
    input_zero = zero(input_zeros_, of_.input_zero_point_stride, channel);
    output_zero_ = zero(output_zeros_, of_.output_zero_point_stride, channel);
    input_scale_ = scale(input_scales_, of_.input_scale_stride, channel);
    output_scale_ = scale(output_scales_, of_.output_scale_stride, channel);
  }

  /// The element of a mean of elements less their zero point; of NaN the lowest one.
  void put(std::byte* to, double mean) const {
    put_number<Element>(to, std::nearbyint(mean * input_scale_ / output_scale_) + output_zero_);
  }

  double input_zero = 0;

 private:
  static double scale(std::span<const std::byte> from, std::uint64_t stride,
                      std::uint64_t channel) {
    return number_at<float>(&from[channel * stride * sizeof(float)]);
  }
  static double zero(std::span<const std::byte> from, const std::optional<std::uint64_t>& stride,
                     std::uint64_t channel) {
    return stride ? number_at<Element>(&from[channel * *stride]) : 0;
  }

  const Requantization& of_;
  std::span<const std::byte> input_scales_, input_zeros_, output_scales_, output_zeros_;
  double output_zero_ = 0, input_scale_ = 1, output_scale_ = 1;
};

template <typename Element>
void sum_quantized(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin,
                   std::uint64_t end, Output& output) {
  WindowReducer<WindowSum<Element>> reducer(kernel, inputs[0], output.room(window_output_steps));
  Quantization<Element> quantization(*kernel.requantization, inputs);
  const auto row = [&] {
    quantization.set(reducer.rows().place(1));
    reducer.set_zero(quantization.input_zero);
  };
  const auto put = [&](std::span<const double> sums, const OutputBlock& block, std::byte* to) {
    for_each_mean(sums, block, reducer.rows().divisor(),
                  [&](std::size_t i, double mean) { quantization.put(to + i, mean); });
  };
  for_each_block(reducer, kernel, begin, end, output, row, put);
}

template <typename Element>
void maximum(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             Output& output) {
  using Reduction = WindowMaximum<Element>;
  WindowReducer<Reduction> reducer(kernel, inputs[0], output.room(window_output_steps));
  using Number = typename Reduction::Number;
  const auto put = [&](std::span<Number> maxima, const OutputBlock& block, std::byte* to) {
    const bool is_empty = reducer.rows().is_empty();
    for (std::size_t i = 0; i < maxima.size() && (is_empty || block.has_empty); ++i) {
      if (is_empty || block.runs[i].count == 0) maxima[i] = Reduction::of_nothing;
    }
    put_numbers<Element>(std::span<const Number>(maxima), to);
  };
  for_each_block(
      reducer, kernel, begin, end, output, [] {}, put);
}

void reduce(const WindowKernel& kernel, Inputs inputs, std::uint64_t begin, std::uint64_t end,
            Output& output) {
  if (kernel.function == WindowFunction::norm)
    return execute_norms(kernel, inputs[0], begin, end, output);
  if (picks_elements(kernel)) return pick_elements(kernel, inputs[0], begin, end, output);
  if (kernel.function == WindowFunction::maximum) {
    return visit_type(kernel.data_type, [&](auto zero) {
      maximum<decltype(zero)>(kernel, inputs, begin, end, output);
    });
  }
  visit_type_among<DataType::Float32, DataType::Float16, DataType::Int8, DataType::UInt8>(
      kernel.data_type, [&]<typename Element>(Element) {
        if constexpr (std::is_integral_v<Element>) {
          if (kernel.requantization)
            return sum_quantized<Element>(kernel, inputs, begin, end, output);
        }
        sum<Element>(kernel, inputs, begin, end, output);
      });
}

}  // namespace

// Each part finds out what the outputs of a row reach. So it has many rows, and whole ones where
// these are short; but there are enough parts for many threads.
PartShape part_shape(const WindowKernel& kernel, std::uint64_t bytes) {
  constexpr std::uint64_t parts_min = 64;
  const std::uint64_t width = kernel.axes.back().output_extent;
  if (width == 0 || width > bytes / size_of(kernel.data_type)) return {};
  const std::uint64_t rows = kernel.output_elements() / width;
  return {.granule = width * std::clamp<std::uint64_t>(rows / parts_min, 1, rows_of_part_max)};
}

void run_part(const WindowKernel& kernel, Inputs inputs, const Part& part, Stores stores,
              Destinations outputs) {
  run_stretch(stores, part, size_of(kernel.data_type), outputs.front(),
              [&](std::uint64_t begin, std::uint64_t end, Output& output) {
                reduce(kernel, inputs, begin, end, output);
              });
}

}  // namespace dmlop::cpu
