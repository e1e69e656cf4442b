// Arithmetic on sizes and strides, in elements and checked 64-bit integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dmlop {

using Sizes = std::vector<std::uint64_t>;
using Strides = std::vector<std::uint64_t>;

/// The product of the sizes; nothing when it leaves 64 bits.
std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> sizes);

/// Strides of a tensor without gaps, last dimension fastest (C order) or first (Fortran order).
/// The element count must fit 64 bits.
Strides packed_strides(std::span<const std::uint64_t> sizes);
Strides fortran_strides(std::span<const std::uint64_t> sizes);

/// How many elements a buffer must hold for the strides: sum of (size - 1) * stride, plus 1.
/// Nothing when it leaves 64 bits.
std::optional<std::uint64_t> reached_elements(std::span<const std::uint64_t> sizes,
                                              std::span<const std::uint64_t> strides);

/// Whether two different indices may reach the same element. Exact for strides that nest when
/// sorted; layouts that interleave without overlap are reported as overlapping.
bool may_overlap(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> strides);

}  // namespace dmlop
