// Least keys of a sequence by vectors: the SIMD part of the selection of few elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace dmlop::cpu {

/// Lanes that least_keys() keeps apart.
inline constexpr std::size_t key_lanes = 64;

/// The least of the keys i, i + key_lanes, … for each i < key_lanes. `count` is a multiple of
/// key_lanes.
template <typename Bits>
void least_keys(const Bits* keys, std::size_t count, Bits* least);

/// Where keys stand that are no larger than `bound`, in order: their number.
template <typename Bits>
std::size_t places_up_to(Bits bound, const Bits* keys, std::size_t count, std::uint32_t* places);

}  // namespace dmlop::cpu
