// Indices that are data: elements of a tensor that point into an axis of another one.
#pragma once

#include <cstdint>

#include "tensor/data_type.hpp"

namespace dmlop {

/// What a UINT64 index beyond its axis means: DirectML looks at its low 32 bits, as an unsigned
/// number or as a signed one.
enum class LargeIndex : std::uint8_t { low_bits, signed_low_bits, whole };

/// Signed indices from -extent to -1 count from the end of the axis. The low 32 bits of an INT64
/// index outside of the axis count.
struct IndexType {
  DataType type = DataType::UInt32;  // INT64, INT32, UINT64 or UINT32
  LargeIndex large = LargeIndex::low_bits;
};

/// An axis into which an element of the indices points.
struct IndexedAxis {
  std::uint64_t extent = 1;
  std::uint64_t stride = 0;          // of the tensor that is pointed into, elements
  std::uint64_t indices_offset = 0;  // where the index stands in a tuple of them
};

}  // namespace dmlop
