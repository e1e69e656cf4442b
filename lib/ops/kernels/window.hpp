// Sums, maxima and norms of what outputs reach, axis by axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ops/kernels/window_axis.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

enum class WindowFunction : std::uint8_t { sum, maximum, norm };

/// The scales and zero points of 8-bit tensors, in further inputs: the input's scale, its zero
/// point if there is one, the output's scale, its zero point if there is one. Strides are from one
/// index of axis 1 to the next, 0 where one value is for all.
struct Requantization {
  std::uint64_t input_scale_stride = 0;
  std::optional<std::uint64_t> input_zero_point_stride;
  std::uint64_t output_scale_stride = 0;
  std::optional<std::uint64_t> output_zero_point_stride;
};

/// The sum of the elements that an output reaches, each times the product of its weights along all
/// axes, divided by what their windows are divided by; or the largest of them; or their norm, the
/// P-th root of the sum of |x|^P. Padding counts 0 in a sum or norm and nothing in a maximum, which
/// skips NaN, too; of nothing it is the type's lowest finite number, and minus infinity for
/// FLOAT16. Sums are in double. 8-bit sums that are not requantized truncate toward zero. Norms are
/// of FLOAT32 and FLOAT16, under windows that have no divisor and are not transposed.
struct WindowKernel {
  DataType data_type = DataType::Float32;
  WindowFunction function = WindowFunction::sum;
  std::vector<WindowAxis> axes;                       // outermost first; at least one
  std::optional<Requantization> requantization = {};  // of a sum
  std::uint64_t p = 2;                                // of a norm, at least 1

  std::uint64_t output_elements() const {
    std::uint64_t count = 1;
    for (const WindowAxis& axis : axes) count *= axis.output_extent;
    return count;
  }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
