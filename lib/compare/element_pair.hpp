// One element of a tensor against the expected one, by the C++ type of both. It is for code that
// compare.cpp and its neighbors run for each element; others call deviation_of() of compare.hpp.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "compare/compare.hpp"
#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::element {

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
constexpr bool is_floating = !std::is_integral_v<T>;

template <typename T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <typename T>
double value_of(T element) {
  if constexpr (std::is_same_v<T, Half>) {
    return half_to_float(element.bits);
  } else {
    return static_cast<double>(element);
  }
}

template <typename T>
bool is_nan(T element) {
  if constexpr (is_floating<T>) {
    return std::isnan(value_of(element));
  } else {
    return false;
  }
}

// +0 and -0 count as one value, and so do all NaN.
template <typename T>
bool is_same_value(T a, T b) {
  if constexpr (is_floating<T>) {
    return value_of(a) == value_of(b) || (is_nan(a) && is_nan(b));
  } else {
    return a == b;
  }
}

// |a - b| of integers, which may not fit their own type.
template <typename T>
std::uint64_t distance(T a, T b) {
  return a > b ? static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b)
               : static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a);
}

// Maps neighboring floating-point numbers to neighboring integers, and both zeros to 0.
template <typename T>
std::int64_t ordered(T element) {
  using Bits = BitsOf<T>;
  const Bits bits = std::bit_cast<Bits>(element);
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(T) - 1));
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<Bits>(~sign));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

template <typename T>
Deviation deviation(T actual, T expected, bool nan_equals_nan) {
  if constexpr (is_floating<T>) {
    const bool both_nan = is_nan(actual) && is_nan(expected);
    if (both_nan && nan_equals_nan) return {};
    if (is_nan(actual) || is_nan(expected)) return {.comparable = false};
    const double a = value_of(actual);
    const double e = value_of(expected);
    if (a == e) return {};
    const double absolute = std::abs(a - e);
    const double relative = std::isinf(absolute) ? absolute : absolute / std::abs(e);
    return {true, absolute, relative, distance(ordered(actual), ordered(expected))};
  } else {
    const std::uint64_t difference = distance(actual, expected);
    if (difference == 0) return {};
    const auto absolute = static_cast<double>(difference);
    return {true, absolute, absolute / std::abs(value_of(expected)), difference};
  }
}

// Whether |actual - expected| <= atol + rtol * |expected|. Integers are compared exactly. An
// infinity is near only to itself.
template <typename T>
bool is_near(const Deviation& deviation, T expected, double rtol, double atol) {
  const double relative_part = rtol == 0 ? 0 : rtol * std::abs(value_of(expected));
  const double allowed = atol + relative_part;
  if constexpr (is_floating<T>) {
    if (deviation.absolute == 0)
      return true;  // both may be NaN, for which no bound can be computed
    return std::isfinite(deviation.absolute) && deviation.absolute <= allowed;
  } else {
    return allowed >= 0x1p64 || deviation.ulp <= static_cast<std::uint64_t>(allowed);
  }
}

// Whether the tolerance allows a deviation of an element whose bits differ from the expected ones.
template <typename T>
bool passes(const Tolerance& tolerance, const Deviation& deviation, T expected) {
  if (!deviation.comparable || tolerance.is_bitwise()) return false;
  if (tolerance.ulp && deviation.ulp <= *tolerance.ulp) return true;
  if (!tolerance.rtol && !tolerance.atol) return false;
  return is_near(deviation, expected, tolerance.rtol.value_or(0), tolerance.atol.value_or(0));
}

// Whether the tolerance allows an element.
template <typename T>
bool passes(const Tolerance& tolerance, T actual, T expected) {
  const bool same = std::memcmp(&actual, &expected, sizeof(T)) == 0;
  if (same && (tolerance.nan_equals_nan || !is_nan(actual))) return true;
  return passes(tolerance, deviation(actual, expected, tolerance.nan_equals_nan), expected);
}

}  // namespace dmlop::element
