// How a reduction reads its rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/reduce.hpp"

namespace dmlop::cpu {

/// Rows that are read together at most: enough that memory is read a page at a time, few enough
/// that what is gathered of them stays in the nearest cache.
constexpr std::uint64_t columns_max = 2048;

/// How the rows of a kernel are read.
struct ReduceShape {
  std::uint64_t length = 1;  // elements of a row
  bool is_columns = false;   // an element of each of many rows after the other
  std::uint64_t width = 1;   // rows that are read together
};

inline ReduceShape shape_of(const ReduceKernel& kernel) {
  constexpr std::uint64_t columns_min = 16, long_row = 32;
  ReduceShape shape;
  for (std::size_t i = kernel.kept; i < kernel.extents.size(); ++i)
    shape.length *= kernel.extents[i];
  const std::vector<std::uint64_t>& strides = kernel.operands.front().strides;
  const std::uint64_t beside = kernel.extents[kernel.kept - 1];
  const bool are_beside = strides[kernel.kept - 1] < strides.back();
  shape.is_columns = beside >= columns_min && (are_beside || shape.length < long_row);
  if (shape.is_columns)
    shape.width = std::min(beside, columns_max);
  else if (are_beside)
    shape.width = std::min(beside, columns_min);
  return shape;
}

}  // namespace dmlop::cpu
