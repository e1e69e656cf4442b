// Elements picked by index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/indexed_axis.hpp"
#include "ops/kernels/strided_axes.hpp"

namespace dmlop {

/// Elements picked by index: each output has a place in the input and a tuple of indices, which
/// lead on from that place along the coordinates. An index beyond its axis is its last one.
/// Inputs: the elements, the indices.
struct GatherKernel {
  std::size_t element_size = 4;
  IndexType index;
  StridedAxes axes = StridedAxes(1);  // of the output, merged; operands: input, indices
  std::vector<IndexedAxis> coordinates;

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {element_size}; }
};

}  // namespace dmlop
