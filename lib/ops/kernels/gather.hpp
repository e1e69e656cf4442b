// Elements picked by index.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/indexed_axis.hpp"

namespace dmlop {

struct GatherAxis {
  std::uint64_t extent = 1;
  std::uint64_t input_stride = 0;  // elements
  std::uint64_t indices_stride = 0;
};

/// Elements picked by index: each output has a place in the input and a tuple of indices, which
/// lead on from that place along the coordinates. An index beyond its axis is its last one.
/// Inputs: the elements, the indices.
struct GatherKernel {
  std::size_t element_size = 4;
  IndexType index;
  std::vector<GatherAxis> axes;  // of the output, outermost first
  std::vector<IndexedAxis> coordinates;

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {element_size}; }
};

}  // namespace dmlop
