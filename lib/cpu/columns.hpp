// Columns of elements that stand side by side, each reversed to a length of its own: the SIMD part
// of reversals along an outer axis.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/output.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::cpu {

/// Rows of elements; element k of each is column k, and lengths[k] its length, of any alignment.
struct Columns {
  const std::byte* rows;
  std::ptrdiff_t pitch;  // bytes from row to row
  const std::byte* lengths;
  DataType lengths_type;  // UInt32 or UInt64
  std::uint64_t height;   // lengths beyond it count as this
  std::uint64_t width;
};

/// Writes row i to output + i * pitch: the columns, the first elements of each in reverse.
void reverse_columns(std::size_t element_size, const Columns& columns, Stores stores,
                     std::byte* output, std::uint64_t pitch);

}  // namespace dmlop::cpu
