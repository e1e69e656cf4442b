// Indices that are data, checked against the axis that they point into.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "ops/kernels/indexed_axis.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::cpu {

inline constexpr std::uint64_t no_place = ~std::uint64_t{0};

inline std::uint64_t signed_place(std::int64_t index, std::uint64_t extent) {
  const auto place =
      static_cast<std::uint64_t>(index < 0 ? index + static_cast<std::int64_t>(extent) : index);
  return place < extent ? place : no_place;
}

/// The place below `extent` that an index points to, or no_place.
template <typename Index>
std::uint64_t place_of(Index index, std::uint64_t extent, LargeIndex large) {
  if constexpr (std::is_signed_v<Index>) {
    const auto most = static_cast<std::int64_t>(extent);
    const std::int64_t wide = index;
    const bool is_inside = -most <= wide && wide < most;
    return signed_place(is_inside ? wide : static_cast<std::int32_t>(wide), extent);
  } else {
    if (index < extent) return index;
    if (sizeof(Index) == 4 || large == LargeIndex::whole) return no_place;
    const auto low = static_cast<std::uint32_t>(index);
    if (large == LargeIndex::signed_low_bits)
      return signed_place(static_cast<std::int32_t>(low), extent);
    return low < extent ? low : no_place;
  }
}

/// Calls action with an integer of the type of the indices.
template <typename Action>
auto with_index(DataType type, Action&& action) {
  return visit_type_among<DataType::UInt32, DataType::Int32, DataType::UInt64, DataType::Int64>(
      type, std::forward<Action>(action));
}

}  // namespace dmlop::cpu
