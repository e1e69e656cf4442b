// A copy of a tensor in which elements are replaced by index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/indexed_axis.hpp"
#include "ops/kernels/strided_axes.hpp"

namespace dmlop {

/// A copy of the input in which the updates replace elements. The axes of the output are `outer`,
/// the coordinates and `inner`; those of the updates are `outer`, `updates` and `inner`. Of updates
/// of the same element the last one in row-major order stays. One with an index beyond its axis is
/// left out. Inputs: the elements, the indices, the updates; they are the operands of the axes, in
/// another order: indices, updates, input.
struct ScatterKernel {
  std::size_t element_size = 4;
  IndexType index;
  StridedAxes outer = StridedAxes(1);
  std::vector<IndexedAxis> coordinates;
  StridedAxes updates = StridedAxes(1);  // have no place in the input
  StridedAxes inner = StridedAxes(1);
  std::uint64_t updates_offset = 0;  // elements

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {element_size}; }
};

}  // namespace dmlop
