// Lp norms of windows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop {

/// Window o has elements o * window_stride - start_padding + k * dilation for k < window. Those
/// outside of the input are padding.
struct PoolingAxis {
  std::uint64_t input_extent = 1;
  std::uint64_t output_extent = 1;
  std::uint64_t input_stride = 0;  // elements
  std::uint64_t window = 1;
  std::uint64_t window_stride = 1;
  std::uint64_t dilation = 1;
  std::int64_t start_padding = 0;  // negative only in tiles that begin behind their input

  /// From the first element of a window to its last.
  std::uint64_t reach() const { return (window - 1) * dilation + 1; }
  /// The most elements of a window that are in the input.
  std::uint64_t most_inside() const { return std::min(window, (input_extent - 1) / dilation + 1); }
};

/// Lp norms of windows over the three innermost axes (the outermost of them 1 for 4-D tensors).
struct LpPoolingKernel {
  DataType data_type = DataType::Float32;
  std::array<std::uint64_t, 2> batch_extents{1, 1};  // batch, channel
  std::array<std::uint64_t, 2> batch_strides{0, 0};  // of the input, elements
  std::array<PoolingAxis, 3> axes;                   // depth, height, width
  std::uint64_t p = 2;

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
