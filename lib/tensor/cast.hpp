// Casts elements to a type that has room for their values.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "tensor/data_type.hpp"

namespace dmlop {

/// Writes elements, in native byte order, as the same numbers of another type: FLOAT32, FLOAT64,
/// or, of integers, INT64 or UINT64. Both memories hold as many elements. Returns the place of the
/// first integer that the other type does not hold; from there on nothing is written.
std::optional<std::size_t> cast_elements(DataType from, std::span<const std::byte> elements,
                                         DataType to, std::span<std::byte> cast);

}  // namespace dmlop
