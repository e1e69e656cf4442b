// The functions that shaders/expressions.def calls, for the CPU. It is included once for every
// instruction set.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "cpu/integer_power.hpp"
#include "hwy/highway.h"

#if defined(DMLOP_CPU_ELEMENTARY_INL_HPP_) == defined(HWY_TARGET_TOGGLE)
#ifdef DMLOP_CPU_ELEMENTARY_INL_HPP_
#undef DMLOP_CPU_ELEMENTARY_INL_HPP_
#else
#define DMLOP_CPU_ELEMENTARY_INL_HPP_
#endif

HWY_BEFORE_NAMESPACE();
namespace dmlop::cpu::HWY_NAMESPACE {

// What operators do, under names that a GPU can give its integers of 64 bits, too.
template <typename T>
HWY_INLINE T zero_of(T) {
  return T(0);
}
template <typename T>
HWY_INLINE T one_of(T) {
  return T(1);
}
template <typename T>
HWY_INLINE bool is_less(T a, T b) {
  return a < b;
}
template <typename T>
HWY_INLINE bool is_equal(T a, T b) {
  return a == b;
}
template <typename T>
HWY_INLINE T negated(T a) {
  return static_cast<T>(-a);
}
template <typename T>
HWY_INLINE T sum(T a, T b) {
  return a + b;
}
template <typename T>
HWY_INLINE T difference(T a, T b) {
  return a - b;
}
template <typename T>
HWY_INLINE T product(T a, T b) {
  return a * b;
}
template <typename T>
HWY_INLINE T square(T a) {
  return a * a;
}

// NaN gives b: max and min as DirectML has them.
template <typename T>
HWY_INLINE T larger(T a, T b) {
  return a > b ? a : b;
}
template <typename T>
HWY_INLINE T smaller(T a, T b) {
  return a < b ? a : b;
}

/// Both are computed: a loop without branches is done in vectors.
template <typename T>
HWY_INLINE T chosen(bool condition, T a, T b) {
  return condition ? a : b;
}

template <typename T>
HWY_INLINE bool is_nan(T a) {
  return a != a;
}
template <typename T>
HWY_INLINE bool is_infinite(T a) {
  return a - a != a - a && a == a;
}

template <typename T>
HWY_INLINE T abs_of(T a) {
  if constexpr (std::is_floating_point_v<T>) return std::abs(a);
  return a < T(0) ? T(0) - a : a;
}

template <typename T>
HWY_INLINE T half_of(T a) {
  if constexpr (std::is_floating_point_v<T>) return a * T(0.5);
  return a / T(2);
}

// Integers: x / 0 has all bits set; the smallest number / -1 is itself.
template <typename T>
HWY_INLINE T quotient(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == T(0)) return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0) - a;
    }
    return a / b;
  }
}

// a - b * trunc(a / b). Integers: x mod 0 has all bits set.
template <typename T>
HWY_INLINE T truncated_modulus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a - b * std::trunc(a / b);
  } else {
    if (b == T(0)) return static_cast<T>(~T(0));
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return T(0);
    }
    return a % b;
  }
}

// a - b * floor(a / b).
template <typename T>
HWY_INLINE T floored_modulus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a - b * std::floor(a / b);
  } else {
    const T rest = truncated_modulus(a, b);
    if (b == T(0)) return rest;
    return rest != T(0) && (rest < T(0)) != (b < T(0)) ? rest + b : rest;
  }
}

template <typename T>
HWY_INLINE T count_bits(T a) {
  return static_cast<T>(std::popcount(a));
}

// Shifts take their amount modulo the bits that they compute with.
template <typename T>
HWY_INLINE T shifted_left(T a, T b) {
  return static_cast<T>(a << (b & T(sizeof(T) * 8 - 1)));
}
template <typename T>
HWY_INLINE T shifted_right(T a, T b) {
  return static_cast<T>(a >> (b & T(sizeof(T) * 8 - 1)));
}

template <typename T>
HWY_INLINE T round_even(T a) {
  return std::nearbyint(a);
}
template <typename T>
HWY_INLINE T round_away(T a) {
  return std::round(a);
}
using uint = std::uint32_t;
HWY_INLINE uint asuint(float x) {
  return std::bit_cast<uint>(x);
}
HWY_INLINE float asfloat(uint bits) {
  return std::bit_cast<float>(bits);
}
// a * b + c, rounded once, with every instruction set.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2) || HWY_ARCH_ARM_A64
HWY_INLINE float mad(float a, float b, float c) {
  return std::fma(a, b, c);
}
#else
// Doubles hold the product. Where their sum is not exact, its last bit is made odd, so that it
// cannot lie in the middle of two floats.
HWY_INLINE float mad(float a, float b, float c) {
  const double product = static_cast<double>(a) * b;
  const double sum = product + c;
  const double added = sum - product;
  const double lost = (product - (sum - added)) + (c - added);
  const auto bits = std::bit_cast<std::int64_t>(sum);
  const std::int64_t away = (lost > 0) == (sum > 0) ? 1 : -1;
  const bool is_exact = !(lost < 0) && !(lost > 0);
  const std::int64_t odd = is_exact || (bits & 1) != 0 ? bits : bits + away;
  return static_cast<float>(std::bit_cast<double>(odd));
}
#endif
#define HAS_FUSED_MAD
using std::floor;
using std::sqrt;
#define FUNCTION HWY_INLINE
#include "../../shaders/elementary.hlsli"
// After it:
#include "../../shaders/angles.hlsli"
#undef FUNCTION
#undef HAS_FUSED_MAD

// FLOAT32 by the functions that the GPU has, too; doubles by the system's.
#define DMLOP_ELEMENTARY(name)                                     \
  template <typename T>                                            \
  HWY_INLINE T name##_of(T a) {                                    \
    if constexpr (std::is_same_v<T, float>) return fast_##name(a); \
    return static_cast<T>(std::name(a));                           \
  }
DMLOP_ELEMENTARY(acos)
DMLOP_ELEMENTARY(acosh)
DMLOP_ELEMENTARY(asin)
DMLOP_ELEMENTARY(asinh)
DMLOP_ELEMENTARY(atan)
DMLOP_ELEMENTARY(atanh)
DMLOP_ELEMENTARY(cos)
DMLOP_ELEMENTARY(cosh)
DMLOP_ELEMENTARY(erf)
DMLOP_ELEMENTARY(exp)
DMLOP_ELEMENTARY(expm1)
DMLOP_ELEMENTARY(log)
DMLOP_ELEMENTARY(sin)
DMLOP_ELEMENTARY(sinh)
DMLOP_ELEMENTARY(tan)
DMLOP_ELEMENTARY(tanh)
#undef DMLOP_ELEMENTARY

// Those that are the system's for FLOAT32, too.
#define DMLOP_ELEMENTARY(name)  \
  template <typename T>         \
  HWY_INLINE T name##_of(T a) { \
    return std::name(a);        \
  }
DMLOP_ELEMENTARY(ceil)
DMLOP_ELEMENTARY(floor)
DMLOP_ELEMENTARY(sqrt)
DMLOP_ELEMENTARY(trunc)
#undef DMLOP_ELEMENTARY

template <typename T>
HWY_INLINE T atan2_of(T a, T b) {
  if constexpr (std::is_same_v<T, float>) return fast_atan2(a, b);
  return std::atan2(a, b);
}
template <typename T>
HWY_INLINE T pow_of(T a, T b) {
  if constexpr (std::is_same_v<T, float>) return fast_pow(a, b);
  return std::pow(a, b);
}
template <typename T>
HWY_INLINE T integer_pow(T a, T b) {
  return static_cast<T>(integer_power(static_cast<double>(a), static_cast<double>(b)));
}
template <typename T>
HWY_INLINE T gelu_of(T a) {
  return fast_gelu(a);
}

template <typename T>
HWY_INLINE T sigmoid_of(T a) {
  return fast_sigmoid(a);
}
template <typename T>
HWY_INLINE T softplus_of(T a) {
  return fast_softplus(a);
}
template <typename T>
HWY_INLINE T swish_of(T a, T b) {
  return fast_swish(a, b);
}

}  // namespace dmlop::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
