// Maxima of windows and where they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/window_axis.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// Two outputs: the maximum of each window as WindowKernel has it, and the index of its first
/// element into the whole input, counted as if that were packed; of NaN alone, that of the window's
/// first element.
struct MaxPlacesKernel {
  DataType data_type = DataType::Float32;
  DataType index_type = DataType::UInt32;
  std::uint64_t place_of_nothing = 0;  // where a window has no element
  std::vector<WindowAxis> axes;  // outermost first, at least one; windows that are not transposed

  std::uint64_t output_elements() const {
    std::uint64_t count = 1;
    for (const WindowAxis& axis : axes) count *= axis.output_extent;
    return count;
  }
  std::vector<std::size_t> output_element_sizes() const {
    return {size_of(data_type), size_of(index_type)};
  }
};

}  // namespace dmlop
