// One element of any type: conversion from FLOAT fields, and to double for display.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop {

/// Whether a FLOAT field's value can become an element. Floating-point types hold any value. For
/// integers the value must be finite and, truncated toward zero, within the type's range.
bool converts_to(DataType type, double value);

/// The element's bytes at the start of the array. Integers truncate toward zero. FLOAT16 rounds to
/// nearest even, and to infinity beyond 65504. converts_to() must hold.
std::array<std::byte, 8> element_from(DataType type, double value);

/// The lowest and the highest finite number of a type.
std::array<std::byte, 8> lowest_element(DataType type);
std::array<std::byte, 8> highest_element(DataType type);

/// "0 to 255".
std::string range_text(DataType type);

/// The element at `bytes` (native byte order) as text that reads back exactly.
std::string element_text(DataType type, const std::byte* bytes);

/// The shortest text that reads back as the value of a FLOAT field.
std::string float_text(double value);

/// The first element that does not fit a type of 4 bits, in memory that has a byte for each.
std::optional<std::size_t> first_beyond_4_bits(DataType type, std::span<const std::byte> elements);

/// Elements of 4 bits that have a byte each, as two in a byte, the first in the lower bits.
std::vector<std::byte> packed_4_bits(std::span<const std::byte> elements);
/// The other way round: as many elements as `to` has bytes.
void unpack_4_bits(DataType type, std::span<const std::byte> packed, std::span<std::byte> to);

/// The element as a double; 64-bit integers may round.
double element_value(DataType type, const std::byte* bytes);

}  // namespace dmlop
