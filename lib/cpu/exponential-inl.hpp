// The exponential function of float, in a form that compilers vectorize. Included once per
// instruction set.
#if defined(DMLOP_CPU_EXPONENTIAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_EXPONENTIAL_INL
#undef DMLOP_CPU_EXPONENTIAL_INL
#else
#define DMLOP_CPU_EXPONENTIAL_INL
#endif

#include <bit>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// 2^n, for -126 <= n <= 127.
HWY_INLINE float power_of_two(std::int32_t n) {
  return std::bit_cast<float>((n + 127) << 23);
}

/// e^x, to 2 units in the last place.
HWY_INLINE float exponential(float x) {
  constexpr float least = -104.0F, most = 89.0F;  // beyond them it is 0, and infinity
  constexpr float shift = 0x1.8p23F;              // the last bits of shift + n are n
  x = x < least ? least : x;
  x = x > most ? most : x;
  const float shifted = x * 0x1.715476p+0F + shift;
  const float n = shifted - shift;
  const float r = (x - n * 0x1.62e4p-1F) - n * 0x1.7f7d1cp-20F;  // |r| <= ln(2) / 2
  float y = 0x1.6c16c2p-10F;
  y = y * r + 0x1.111112p-7F;
  y = y * r + 0x1.555556p-5F;
  y = y * r + 0x1.555556p-3F;
  y = y * r + 0.5F;
  y = (y * r) * r + r + 1.0F;
  // In two factors, because one alone leaves the range of numbers.
  const std::int32_t power =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(shift);
  const std::int32_t half = power >> 1;
  return y * power_of_two(half) * power_of_two(power - half);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
