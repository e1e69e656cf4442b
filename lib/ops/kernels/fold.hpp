// Windows put back into an image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/strided_axes.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// A spatial axis of the image. Element k of the window at place p lies at
/// p * window_stride + k * dilation - start_padding.
struct FoldAxis {
  std::uint64_t extent = 1;
  std::uint64_t start_padding = 0;
  std::uint64_t window = 1;
  std::uint64_t window_stride = 1;
  std::uint64_t dilation = 1;
  std::uint64_t places = 1;          // of the window
  std::uint64_t element_stride = 0;  // of the input, from one element of a window to the next
  std::uint64_t place_stride = 0;    // and from one window to the next
};

/// An image of the sums of all elements of windows that lie on each of its elements. Integers wrap;
/// floating-point sums are taken as double.
struct FoldKernel {
  DataType data_type = DataType::Float32;
  StridedAxes batches = StridedAxes(1);  // and channels; of the input, merged
  std::vector<FoldAxis> axes;            // outermost first; at least one

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
