// tensor/half.hpp against the definition of binary16 (reference/number.hpp), for every half; and
// how Direct3D's kernels round to FLOAT16 (shaders/half_bits.hlsli).
#include "tensor/half.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "reference/number.hpp"

namespace dmlop::test::half_test {
namespace {

// The language of shaders, as far as half_bits.hlsli uses it.
using uint = std::uint32_t;
uint asuint(float x) {
  return std::bit_cast<uint>(x);
}
float asfloat(uint bits) {
  return std::bit_cast<float>(bits);
}
#define precise
#include "../../shaders/half_bits.hlsli"
#undef precise

constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_nan(unsigned half) {
  return half % 0x8000 > 0x7C00;
}

TEST_CASE("half_to_float: all 65536 halves have their value and sign") {
  unsigned wrong = 0;
  for (unsigned half = 0; half < 0x10000; ++half) {
    const float found = half_to_float(static_cast<std::uint16_t>(half));
    const double expected = half_value(static_cast<std::uint16_t>(half));
    const bool same = is_nan(half) ? std::isnan(found) : static_cast<double>(found) == expected;
    if (!same || std::signbit(found) != (half >= 0x8000)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("half_to_float: landmarks") {
  CHECK(half_to_float(0x0001) == 0x1p-24F);
  CHECK(half_to_float(0x03FF) == 1023 * 0x1p-24F);
  CHECK(half_to_float(0x0400) == 0x1p-14F);
  CHECK(half_to_float(0x3C00) == 1.0F);
  CHECK(half_to_float(0xC000) == -2.0F);
  CHECK(half_to_float(0x7BFF) == 65504.0F);
  CHECK(half_to_float(0xFC00) == -std::numeric_limits<float>::infinity());
}

TEST_CASE("half_to_float: keeps the payload of NaN") {
  CHECK(std::bit_cast<std::uint32_t>(half_to_float(0x7E01)) == 0x7FC02000);
}

TEST_CASE("half_from_double: every half comes back from its value") {
  unsigned wrong = 0;
  for (unsigned half = 0; half < 0x10000; ++half) {
    const std::uint16_t back = half_from_double(half_value(static_cast<std::uint16_t>(half)));
    if (is_nan(half) ? !is_nan(back) : back != half) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("half_from_double: between two halves the nearest wins, halfway the even one") {
  unsigned wrong = 0;
  for (std::uint16_t low = 0; low < 0x7BFF; ++low) {
    const auto high = static_cast<std::uint16_t>(low + 1);
    const double middle = (half_value(low) + half_value(high)) / 2;  // exact in double
    const std::uint16_t even = low % 2 == 0 ? low : high;
    for (const double s : {1.0, -1.0}) {
      const unsigned sign = s > 0 ? 0x0000 : 0x8000;
      if (half_from_double(s * middle) != (sign | even)) ++wrong;
      if (half_from_double(s * std::nextafter(middle, 0.0)) != (sign | low)) ++wrong;
      if (half_from_double(s * std::nextafter(middle, infinity)) != (sign | high)) ++wrong;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("half_from_double: beyond the largest half") {
  CHECK(half_from_double(std::nextafter(65520.0, 0.0)) == 0x7BFF);
  CHECK(half_from_double(65520) == 0x7C00);
  CHECK(half_from_double(-65520) == 0xFC00);
  CHECK(half_from_double(1e300) == 0x7C00);
  CHECK(half_from_double(-infinity) == 0xFC00);
}

TEST_CASE("half_from_double: below the smallest half") {
  CHECK(half_from_double(0x1p-25) == 0x0000);  // halfway between 0 and the smallest: even
  CHECK(half_from_double(std::nextafter(0x1p-25, 1.0)) == 0x0001);
  CHECK(half_from_double(-0x1p-26) == 0x8000);
  CHECK(half_from_double(5e-324) == 0x0000);
  CHECK(half_from_double(-0.0) == 0x8000);
}

TEST_CASE("half_from_double: rounds once") {
  // To float first, this would become the tie 1 + 2^-11 and then 1.
  CHECK(half_from_double(1 + 0x1p-11 + 0x1p-40) == 0x3C01);
}

TEST_CASE("half_from_double: NaN stays NaN, with its sign") {
  CHECK(half_from_double(std::numeric_limits<double>::quiet_NaN()) == 0x7E00);
  CHECK(is_nan(half_from_double(-std::numeric_limits<double>::quiet_NaN())));
  // A payload in the low bits only must not turn into infinity.
  CHECK(is_nan(half_from_double(std::bit_cast<double>(0x7FF0000000000001ULL))));
}

TEST_CASE("half_from_double: random numbers of all magnitudes") {
  std::mt19937_64 engine(60);
  unsigned wrong = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto fraction = static_cast<double>(engine() % (1ULL << 53));
    const double value =
        std::ldexp(fraction, static_cast<int>(engine() % 50) - 83) * (engine() % 2 == 0 ? 1 : -1);
    if (half_from_double(value) != nearest_half(value)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("half_bits: kernels of Direct3D round as the CPU does") {
  unsigned wrong = 0;
  const auto try_bits = [&](std::uint32_t bits) {
    const auto x = std::bit_cast<float>(bits);
    if (half_bits(x) != half_from_double(static_cast<double>(x))) ++wrong;
  };
  for (const std::uint32_t sign : {0U, 0x80000000U}) {
    // Each half, halfway to the next, and the floats beside both.
    for (std::uint32_t half = 0; half <= 0x7C00; ++half) {
      const std::uint32_t at =
          std::bit_cast<std::uint32_t>(half_to_float(static_cast<std::uint16_t>(half)));
      const std::uint32_t next =
          half == 0x7C00
              ? at
              : std::bit_cast<std::uint32_t>(half_to_float(static_cast<std::uint16_t>(half + 1)));
      const float middle = (std::bit_cast<float>(at) + std::bit_cast<float>(next)) / 2;
      for (const std::uint32_t near : {at, std::bit_cast<std::uint32_t>(middle)}) {
        for (std::uint32_t bits = near == 0 ? 0 : near - 1; bits <= near + 1; ++bits)
          try_bits(sign | bits);
      }
    }
    // One float in 4,000 of all: denormals, what overflows, NaN.
    for (std::uint32_t bits = 0; bits < 0x7F900000; bits += 3989) try_bits(sign | bits);
    for (const float x : {65519.0F, 65520.0F, 65536.0F, 3e38F})
      try_bits(sign | std::bit_cast<std::uint32_t>(x));
  }
  CHECK(wrong == 0);
}

}  // namespace
}  // namespace dmlop::test::half_test
