// Matrices with one value on some diagonals.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ops/kernels/strided_axes.hpp"

namespace dmlop {

/// Matrices with one value on the diagonals from `begin` to before `end`, or with `is_inverted` on
/// all others. Diagonal d is where column - row is d. The other elements are those of the input, or
/// zeros where there is no input.
struct BandKernel {
  std::size_t element_size = 4;
  bool has_input = false;
  StridedAxes lines = StridedAxes(1);  // the rows of all matrices, of the input; merged
  std::uint64_t rows = 1;              // of a matrix
  StridedAxis columns;                 // of the input
  std::array<std::byte, 8> value{};
  std::int64_t begin = 0, end = 0;
  bool is_inverted = false;

  std::uint64_t output_elements() const;
  std::vector<std::size_t> output_element_sizes() const { return {element_size}; }
};

}  // namespace dmlop
