// How a reduction reads its rows, and the blocks that long rows are cut into.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/divide.hpp"
#include "base/threshold.hpp"
#include "cpu/preparation.hpp"
#include "ops/kernels/reduce.hpp"

namespace dmlop::cpu {

/// Rows that are read together at most: enough that memory is read a page at a time, few enough
/// that what is gathered of them stays in the nearest cache.
constexpr Threshold columns_max{2048, 5};

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
    shape.width = std::min<std::uint64_t>(beside, columns_max);
  else if (are_beside)
    shape.width = std::min(beside, columns_min);
  return shape;
}

/// A part has so many rows beside each other at least: these are read fast.
inline std::uint64_t least_rows(const ReduceShape& shape) {
  return shape.is_columns ? std::min<std::uint64_t>(1024, shape.width) : shape.width;
}

/// Blocks of rows that are too few to keep all threads busy: groups of rows times stretches of
/// their elements.
struct ReduceBlocks {
  std::uint64_t rows;    // of a group
  std::uint64_t groups;  // of rows
  std::uint64_t length;  // elements of a row in a block
  std::uint64_t count;   // blocks of a row; 1 where rows stay whole
};

/// A saved cell is a double or a 64-bit integer.
inline constexpr std::size_t saved_cell_bytes = 8;

inline bool finds_index(const ReduceKernel& kernel) {
  return kernel.function == ReduceFunction::index_of_minimum ||
         kernel.function == ReduceFunction::index_of_maximum;
}

/// What to compute of outputs [begin, begin + count).
struct ReduceTask {
  enum class Kind : std::uint8_t {
    whole,  // all of them
    save,   // the cells of elements [first, last) of their rows, block number `block`
    join,   // all from the saved cells of `block` blocks, which are joined but for indices
  };
  Kind kind = Kind::whole;
  std::uint64_t begin = 0, count = 0;
  std::uint64_t first = 0, last = 0, block = 0;
  const std::byte* saved = nullptr;
};

inline ReduceBlocks blocks_of(const ReduceKernel& kernel, const ReduceShape& shape) {
  const std::uint64_t total = kernel.output_elements();
  ReduceBlocks blocks{.rows = least_rows(shape), .groups = 0, .length = shape.length, .count = 1};
  blocks.groups = divided_up(total, blocks.rows);
  // What is gathered of columns is much, so that their blocks are larger.
  const std::uint64_t elements = block_elements() * (shape.is_columns ? 4 : 1);
  constexpr Threshold blocks_most{1024, 3};  // of all rows: what is saved of them is little
  const std::uint64_t length =
      std::max({std::uint64_t{1}, elements / blocks.rows,
                divided_up(shape.length,
                           blocks_most / std::min<std::uint64_t>(blocks.groups, blocks_most))});
  if (blocks.groups >= enough_rows() || shape.length / 2 < length) return blocks;
  blocks.length = length;
  blocks.count = divided_up(shape.length, length);
  return blocks;
}

}  // namespace dmlop::cpu
