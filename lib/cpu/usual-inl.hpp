// Functions of elementary-inl.hpp for usual numbers only, which take half of the work: the same
// bits as those give for all. Each says of every number that it is asked for whether that is rare.
// Included once per instruction set.
#if defined(DMLOP_CPU_USUAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_USUAL_INL
#undef DMLOP_CPU_USUAL_INL
#else
#define DMLOP_CPU_USUAL_INL
#endif

#include <bit>
#include <cstdint>
#include <type_traits>

#include "cpu/elementary-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

/// Whether a number was rare: the highest bit. Without comparisons, which are more work.
using Rare = std::uint32_t;

constexpr std::uint32_t magnitude_bits = 0x7FFFFFFF;

/// Whether |x| is larger than `most`, or x is not a number.
HWY_INLINE Rare is_beyond(float most, float x) {
  return std::bit_cast<std::uint32_t>(most) - (std::bit_cast<std::uint32_t>(x) & magnitude_bits);
}
/// Whether x is anything but a positive normal number.
HWY_INLINE Rare is_not_positive(float x) {
  constexpr std::uint32_t least = 0x00800000, most = 0x7F7FFFFF;
  return (std::bit_cast<std::uint32_t>(x) - least) | (most - std::bit_cast<std::uint32_t>(x));
}

/// e^x where it is normal: for |x| <= 86.
HWY_INLINE float usual_exp(float x) {
  const float halvings = halvings_of(x);
  return (1.0F + small_expm1(without_halvings(x, halvings))) * power_of_two_in(halvings);
}

HWY_INLINE float usual_exp(float x, Rare& rare) {
  rare |= is_beyond(86.0F, x);
  return usual_exp(x);
}

HWY_INLINE float usual_sigmoid(float x, Rare& rare) {
  rare |= is_beyond(86.0F, x);
  const float e = usual_exp(-magnitude_of(x));
  return (x < 0.0F ? e : 1.0F) / (1.0F + e);
}

HWY_INLINE float usual_swish(float x, float z, Rare& rare) {
  rare |= is_beyond(64.0F, z);
  return x * usual_sigmoid(z, rare);
}

HWY_INLINE float usual_softplus(float x, Rare& rare) {
  rare |= is_beyond(86.0F, x);
  return (x > 0.0F ? x : 0.0F) + fast_log1p(usual_exp(-magnitude_of(x)));
}

HWY_INLINE float usual_log(float x, Rare& rare) {
  rare |= is_not_positive(x);
  const std::uint32_t bits = split_bits(x);
  return log_of_parts(exponent_in(bits), split_rest(bits), 0.0F);
}

HWY_INLINE float usual_sin(float x, Rare& rare) {
  rare |= is_beyond(511.0F, x);
  return sin_at(x, small_angle_of(x));
}
HWY_INLINE float usual_cos(float x, Rare& rare) {
  rare |= is_beyond(511.0F, x);
  return cos_at(small_angle_of(x));
}
HWY_INLINE float usual_tan(float x, Rare& rare) {
  rare |= is_beyond(511.0F, x);
  return tan_at(x, small_angle_of(x));
}

// Only positive numbers, and powers that are normal.
HWY_INLINE float usual_pow(float x, float y, Rare& rare) {
  const std::uint32_t bits = split_bits(x);
  const PowerSum parts = power_of(bits, exponent_in(bits), y);
  const float power = parts.high + parts.low;
  rare |= is_not_positive(x) | is_beyond(0x1p32F, y) | is_beyond(125.0F, power);
  const float rounded = power + rounder();
  return small_exp2((parts.high - (rounded - rounder())) + parts.low) * power_of_two_in(rounded);
}
// Integers as doubles.
HWY_INLINE double usual_pow(double x, double y, Rare&) {
  return pow_of(x, y);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
