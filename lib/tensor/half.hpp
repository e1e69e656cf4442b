// Converts between IEEE 754 binary16 and binary32, as bits. Rounding is to nearest even.
#pragma once

#include <bit>
#include <cstdint>

namespace dmlop {

inline float half_to_float(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(std::bit_cast<std::uint32_t>(magnitude) | sign);
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

/// Rounds once, directly from double, to avoid double rounding by way of float.
inline std::uint16_t half_from_double(double value) {
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 48) & 0x8000U);
  const std::uint64_t magnitude = bits & 0x7FFFFFFFFFFFFFFFULL;
  constexpr std::uint64_t infinity = 0x7FF0000000000000ULL;
  if (magnitude > infinity) return sign | 0x7E00U;
  // 65520 is halfway between the largest half and the next power of two, so it rounds to infinity.
  if (magnitude >= std::bit_cast<std::uint64_t>(65520.0)) return sign | 0x7C00U;
  if (magnitude >= std::bit_cast<std::uint64_t>(0x1p-14)) {
    // A normal half keeps the upper bits. Just below half a unit is added, and one more if the last
    // kept bit is odd; a carry correctly increments the exponent.
    const std::uint64_t rounded = magnitude + 0x1FFFFFFFFFFULL + (magnitude >> 42 & 1U);
    return static_cast<std::uint16_t>(sign | ((rounded >> 42) - (std::uint64_t{1008} << 10)));
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  if (exponent < -25) return sign;
  // The 53-bit significand, shifted so that one unit is 2^-24.
  const std::uint64_t significand = (magnitude & 0xFFFFFFFFFFFFFULL) | 0x10000000000000ULL;
  const int shift = 42 + (-14 - exponent);
  const std::uint64_t kept = significand >> shift;
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t tie = std::uint64_t{1} << (shift - 1);
  const std::uint64_t rounded = kept + (rest > tie || (rest == tie && (kept & 1) != 0) ? 1 : 0);
  return static_cast<std::uint16_t>(sign | rounded);
}

}  // namespace dmlop
