// Where elements are not zero: their number and their coordinates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/strided_axis.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// The number of elements that are not zero in each block of the input, in row-major order. -0 is
/// zero, NaN is not.
struct NonzeroCountKernel {
  DataType data_type = DataType::Float32;
  std::vector<StridedAxis> axes;  // of the input, outermost first
  std::uint64_t block = 1;        // elements; the last block may have fewer

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {sizeof(std::uint64_t)}; }
};

/// A row of UINT32 coordinates for each element that is not zero, in row-major order, and rows of
/// zeros behind them, as many as the input has elements. Inputs: the elements; the running sums of
/// the numbers in their blocks.
struct NonzeroKernel {
  NonzeroCountKernel count;
  std::size_t coordinates = 1;  // of a row: those of the innermost axes

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {sizeof(std::uint32_t)}; }
};

}  // namespace dmlop
