// Convolutions by their definitions: forward every output gathers from its window, backward every
// input is spread over the outputs that it reaches.
#pragma once

#include <optional>

#include "reference/values.hpp"

namespace dmlop::test {

struct Convolution {
  Tensor input, filter;
  bool flips = false, is_backward = false;
  List strides, dilations, start, end, output_padding;
  std::uint64_t groups = 1;
  std::optional<Tensor> bias, input_zero, filter_zero, input_scale, filter_scale;
  std::optional<Tensor> output_scale, output_zero;
  List outputs = {};  // along spatial axes, if not what the formula gives

  List output_sizes() const {
    List sizes{input.sizes[0], is_backward ? filter.sizes[1] * groups : filter.sizes[0]};
    for (std::size_t i = 0; i < strides.size(); ++i)
      sizes.push_back(computed(i) + output_padding[i]);
    return sizes;
  }

  /// Sums in double: those of small numbers are exact, so that their order does not matter.
  Tensor result(DataType type) const {
    const List sizes = output_sizes();
    Tensor sums = Tensor::packed(DataType::Float64, sizes);
    for_each_index(input.sizes, [&](const Index& from) {
      for_each_index(filter.sizes, [&](const Index& tap) { spread(from, tap, sums); });
    });
    Tensor output = Tensor::packed(type, sizes);
    for_each_index(sizes, [&](const Index& at) { set_value(output, at, finish(at, sums)); });
    return output;
  }

 private:
  /// Outputs along a spatial axis, without the padding behind them.
  std::uint64_t computed(std::size_t i) const {
    if (!outputs.empty()) return outputs[i] - output_padding[i];
    const std::uint64_t window = (filter.sizes[i + 2] - 1) * dilations[i] + 1,
                        n = input.sizes[i + 2];
    return is_backward ? (n - 1) * strides[i] + window - start[i] - end[i]
                       : (n + start[i] + end[i] - window) / strides[i] + 1;
  }

  double at_or(const std::optional<Tensor>& tensor, std::uint64_t i, double otherwise) const {
    return tensor ? value_at(*tensor, along(*tensor, i)) : otherwise;
  }

  // Adds what an input contributes through a tap of a filter.
  void spread(const Index& from, const Index& tap, Tensor& sums) const {
    const std::uint64_t channels = input.sizes[1] / groups, group = from[1] / channels;
    Index to{from[0], 0};
    if (is_backward) {
      if (tap[0] != from[1]) return;
      to[1] = group * filter.sizes[1] + tap[1];
    } else {
      if (tap[0] / (filter.sizes[0] / groups) != group || tap[1] != from[1] % channels) return;
      to[1] = tap[0];
    }
    for (std::size_t i = 0; i < strides.size(); ++i) {
      const std::uint64_t t = flips ? filter.sizes[i + 2] - 1 - tap[i + 2] : tap[i + 2];
      std::uint64_t place = 0;
      if (is_backward) {
        place = from[i + 2] * strides[i] + t * dilations[i];
        if (place < start[i]) return;
        place -= start[i];
      } else {
        place = from[i + 2] + start[i];
        if (place < t * dilations[i] || (place - t * dilations[i]) % strides[i] != 0) return;
        place = (place - t * dilations[i]) / strides[i];
      }
      if (place >= computed(i)) return;
      to.push_back(place);
    }
    const double product = (value_at(input, from) - at_or(input_zero, 0, 0)) *
                           (value_at(filter, tap) - at_or(filter_zero, to[1], 0));
    set_value(sums, to, value_at(sums, to) + product);
  }

  double finish(const Index& at, const Tensor& sums) const {
    for (std::size_t i = 0; i < strides.size(); ++i) {
      if (at[i + 2] >= computed(i)) return 0;
    }
    double x = value_at(sums, at) + at_or(bias, at[1], 0);
    x *= at_or(input_scale, 0, 1) * at_or(filter_scale, at[1], 1);
    if (!output_scale) return x;
    const DataType type = output_zero ? output_zero->type : DataType::UInt8;
    return quantized(x / at_or(output_scale, 0, 1), at_or(output_zero, 0, 0), type);
  }
};

}  // namespace dmlop::test
