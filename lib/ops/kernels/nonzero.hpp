// Where elements are not zero: their number and their coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/strided_axes.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// The number of elements that are not zero in each block of the input, in row-major order. -0 is
/// zero, NaN is not.
struct NonzeroCountKernel {
  DataType data_type = DataType::Float32;
  StridedAxes axes = StridedAxes(1);  // of the input, merged
  std::uint64_t block = 1;            // elements; the last block may have fewer

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {sizeof(std::uint64_t)}; }
};

/// A row of UINT32 coordinates for each element that is not zero, in row-major order, and rows of
/// zeros behind them, as many as the input has elements. Inputs: the elements; the running sums of
/// the numbers in their blocks.
struct NonzeroKernel {
  NonzeroCountKernel count;
  std::vector<std::uint64_t> extents;  // of the axes of which a row has coordinates, the innermost

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {sizeof(std::uint32_t)}; }
};

}  // namespace dmlop
