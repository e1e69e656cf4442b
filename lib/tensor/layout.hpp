// Arithmetic on sizes and strides. They count elements and are checked 64-bit integers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dmlop {

using Sizes = std::vector<std::uint64_t>;
using Strides = std::vector<std::uint64_t>;

/// The product of the sizes; nothing if it overflows 64 bits.
std::optional<std::uint64_t> element_count(std::span<const std::uint64_t> sizes);

/// The strides of a tensor without gaps, whose last (C order) or first (Fortran order) dimension is
/// fastest. The element count must fit 64 bits.
Strides packed_strides(std::span<const std::uint64_t> sizes);
Strides fortran_strides(std::span<const std::uint64_t> sizes);

/// Whether these are the packed strides in C order, but for axes of one index.
bool is_packed(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> strides);

/// How many elements a buffer needs for the strides: the sum of (size - 1) * stride, plus 1.
/// Nothing if it overflows 64 bits.
std::optional<std::uint64_t> reached_elements(std::span<const std::uint64_t> sizes,
                                              std::span<const std::uint64_t> strides);

/// Whether two different indices may reach the same element. The answer is exact if the sorted
/// strides nest. Layouts that interleave without overlap count as overlapping.
bool may_overlap(std::span<const std::uint64_t> sizes, std::span<const std::uint64_t> strides);

}  // namespace dmlop
