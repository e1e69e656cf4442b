// Numbers as elements, by the definition of the formats. The library's bit arithmetic
// (tensor/half.hpp, tensor/element.hpp) is checked against it.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "tensor/data_type.hpp"

namespace dmlop::test {

/// binary16: sign, 5 bits of exponent with bias 15, 10 of fraction.
inline double half_value(std::uint16_t half) {
  const int exponent = (half >> 10) % 32;
  const int fraction = half % 1024;
  const double sign = half >= 0x8000 ? -1 : 1;
  if (exponent == 31) {
    return sign * (fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity());
  }
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// The half nearest to a number, with ties to even. For NaN, any NaN.
inline std::uint16_t nearest_half(double value) {
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double magnitude = std::abs(value);
  if (std::isnan(value)) return 0x7E00;
  if (magnitude < std::ldexp(1, -26)) return sign;
  if (magnitude >= 65536) return sign | 0x7C00;
  // The distance between halves near the value. Rounding in units of it breaks ties to even, which
  // is the default mode.
  const int exponent = std::max(std::ilogb(magnitude), -14);
  const double units = std::nearbyint(std::ldexp(magnitude, 10 - exponent));
  // 1024 to 2047 units are the fraction with its hidden bit. 2048 units are 1024 of the next
  // exponent.
  return static_cast<std::uint16_t>(sign + (exponent + 14) * 1024 + static_cast<int>(units));
}

template <typename T>
std::vector<std::byte> element_bytes(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// A number as an element: integers truncate toward zero, floating types round to nearest even.
inline std::vector<std::byte> element(DataType type, double value) {
  switch (type) {
    case DataType::Float64:
      return element_bytes(value);
    case DataType::Float32:
      return element_bytes(static_cast<float>(value));
    case DataType::Float16:
      return element_bytes(nearest_half(value));
    case DataType::UInt64:
      return element_bytes(static_cast<std::uint64_t>(value));
    default: {
      // Two's complement in the low bytes.
      std::vector<std::byte> bytes = element_bytes(static_cast<std::int64_t>(value));
      bytes.resize(size_of(type));
      return bytes;
    }
  }
}

/// A FLOAT32 or FLOAT16 element as a number.
inline double number(DataType type, const std::byte* element) {
  if (type == DataType::Float16) {
    std::uint16_t half;
    std::memcpy(&half, element, sizeof half);
    return half_value(half);
  }
  float single;
  std::memcpy(&single, element, sizeof single);
  return single;
}

}  // namespace dmlop::test
