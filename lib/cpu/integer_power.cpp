#include "cpu/integer_power.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

namespace dmlop::cpu {
namespace {

using uint = std::uint32_t;
using Wide = std::uint64_t;
Wide wide(uint high, uint low) {
  return Wide{high} << 32 | low;
}
uint wide_high(Wide a) {
  return static_cast<uint>(a >> 32);
}
uint wide_low(Wide a) {
  return static_cast<uint>(a);
}
Wide wide_product(uint a, uint b) {
  return Wide{a} * b;
}
Wide wide_sum(Wide a, Wide b) {
  return a + b;
}
#define FUNCTION
#define LOOP
#include "../../shaders/integer_power.hlsli"
#undef FUNCTION
#undef LOOP

// Numbers of FLOAT32 and integers of 32 bits have no more than 32 digits.
PowerExponent exponent_of(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto field = static_cast<int>(bits >> 52 & 0x7FF);
  return {.mantissa = field == 0 ? 0 : static_cast<uint>(bits >> 21) | 0x80000000U,
          .shift = field - 1023 - 31,
          .is_negative = std::signbit(number),
          .is_nan = std::isnan(number)};
}

}  // namespace

double integer_power(double base, double exponent) {
  // Where no whole number is near, the system's power has the same whole part.
  const double nearly = std::pow(base, exponent), error = std::ldexp(std::abs(nearly), -50);
  if (std::trunc(nearly - error) == std::trunc(nearly + error)) return std::trunc(nearly);
  const IntegerPower power =
      integer_power(static_cast<uint>(std::abs(base)), base < 0, exponent_of(exponent));
  const auto magnitude = static_cast<double>(power.magnitude);
  return power.is_negative ? -magnitude : magnitude;
}

}  // namespace dmlop::cpu
