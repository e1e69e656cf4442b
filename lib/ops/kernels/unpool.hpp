// Elements that go to places among zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/strided_axes.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// Zeros, and among them the elements of the first input, each at the index that stands at its
/// place in the second. Indices count through the whole output; those beyond its end are ignored.
/// Where several elements meet, the last one stays, or their sum in double.
struct UnpoolKernel {
  DataType data_type = DataType::Float32;
  DataType index_type = DataType::UInt32;
  StridedAxes axes = StridedAxes(1);  // of the values, merged; operands: values, indices
  std::uint64_t images = 1;           // that the outermost axes count; indices stay in their image
  std::uint64_t image_extent = 1;     // elements of the output for each
  bool adds = false;                  // FLOAT32 and FLOAT16

  std::uint64_t output_elements() const { return images * image_extent; }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
