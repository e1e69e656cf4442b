// The functions that expressions.def calls, in HLSL; for the CPU they stand in lib/cpu/elementary-inl.hpp.
// A kernel that knows FLOAT16 inputs whose results are FLOAT16, too, defines IS_OF_HALVES, a number that the compiler
// knows.
#ifndef IS_OF_HALVES
#define IS_OF_HALVES false
#endif

// For loops that apply a function to four numbers: each turn takes the first number and puts its result last. A changing
// index would not do, because Direct3D's compiler then chooses a number by products with 1 and 0, and an infinite one
// makes the others NaN.
float4 turned(float4 four) { return four.yzwx; }
float4 with_last(float4 four, float last) { return float4(four.yzw, last); }

// Integers of 64 bits: x low, y high; int2 with a sign.
uint2 negated(uint2 a) { return uint2(0 - a.x, ~a.y + (a.x == 0 ? 1 : 0)); }
uint2 sum(uint2 a, uint2 b) {
  const uint low = a.x + b.x;
  return uint2(low, a.y + b.y + (low < a.x ? 1 : 0));
}
uint2 difference(uint2 a, uint2 b) { return sum(a, negated(b)); }
uint high_product(uint a, uint b) {
  const uint low = (a & 0xFFFF) * (b & 0xFFFF);
  const uint middle = (a >> 16) * (b & 0xFFFF) + (low >> 16);
  const uint other = (a & 0xFFFF) * (b >> 16) + (middle & 0xFFFF);
  return (a >> 16) * (b >> 16) + (middle >> 16) + (other >> 16);
}
uint2 product(uint2 a, uint2 b) { return uint2(a.x * b.x, high_product(a.x, b.x) + a.x * b.y + a.y * b.x); }
bool is_less(uint2 a, uint2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
bool is_equal(uint2 a, uint2 b) { return a.x == b.x && a.y == b.y; }
uint2 zero_of(uint2 a) { return uint2(0, 0); }
uint2 one_of(uint2 a) { return uint2(1, 0); }
bool is_nan(uint2 a) { return false; }
uint2 abs_of(uint2 a) { return a; }
uint2 shifted_left(uint2 a, uint2 b) {
  const uint n = b.x & 63;
  const uint2 below_32 = uint2(a.x << (n & 31), (n & 31) == 0 ? a.y : (a.y << (n & 31)) | (a.x >> (32 - (n & 31))));
  return n < 32 ? below_32 : uint2(0, below_32.x);
}
uint2 shifted_right(uint2 a, uint2 b) {
  const uint n = b.x & 63;
  const uint2 below_32 = uint2((n & 31) == 0 ? a.x : (a.x >> (n & 31)) | (a.y << (32 - (n & 31))), a.y >> (n & 31));
  return n < 32 ? below_32 : uint2(below_32.y, 0);
}
uint2 half_of(uint2 a) { return uint2((a.x >> 1) | (a.y << 31), a.y >> 1); }
uint2 count_bits(uint2 a) { return uint2(countbits(a.x) + countbits(a.y), 0); }

struct Division {
  uint2 quotient;
  uint2 rest;
};
// Bit by bit. Everything has all bits set if b is 0.
Division divided(uint2 a, uint2 b) {
  Division division;
  division.quotient = uint2(0, 0);
  division.rest = uint2(0, 0);
  for (uint i = 0; i < 64; ++i) {
    const bool carries = (division.rest.y >> 31) != 0;
    division.rest = uint2((division.rest.x << 1) | (a.y >> 31), (division.rest.y << 1) | (division.rest.x >> 31));
    a = uint2(a.x << 1, (a.y << 1) | (a.x >> 31));
    const bool fits = carries || !is_less(division.rest, b);
    division.quotient = uint2((division.quotient.x << 1) | (fits ? 1 : 0), (division.quotient.y << 1) | (division.quotient.x >> 31));
    if (fits) division.rest = difference(division.rest, b);
  }
  if (is_equal(b, uint2(0, 0))) {
    division.quotient = uint2(0xFFFFFFFFu, 0xFFFFFFFFu);
    division.rest = division.quotient;
  }
  return division;
}
uint2 quotient(uint2 a, uint2 b) { return divided(a, b).quotient; }
uint2 truncated_modulus(uint2 a, uint2 b) { return divided(a, b).rest; }
uint2 floored_modulus(uint2 a, uint2 b) { return divided(a, b).rest; }

int2 negated(int2 a) { return int2(negated(uint2(a))); }
int2 sum(int2 a, int2 b) { return int2(sum(uint2(a), uint2(b))); }
int2 difference(int2 a, int2 b) { return int2(difference(uint2(a), uint2(b))); }
int2 product(int2 a, int2 b) { return int2(product(uint2(a), uint2(b))); }
bool is_less(int2 a, int2 b) { return a.y < b.y || (a.y == b.y && uint(a.x) < uint(b.x)); }
bool is_equal(int2 a, int2 b) { return a.x == b.x && a.y == b.y; }
int2 zero_of(int2 a) { return int2(0, 0); }
int2 one_of(int2 a) { return int2(1, 0); }
bool is_nan(int2 a) { return false; }
int2 abs_of(int2 a) { return a.y < 0 ? negated(a) : a; }
// Toward zero.
int2 half_of(int2 a) {
  const uint2 half_magnitude = half_of(uint2(abs_of(a)));
  return a.y < 0 ? negated(int2(half_magnitude)) : int2(half_magnitude);
}
int2 quotient(int2 a, int2 b) {
  const int2 whole = int2(quotient(uint2(abs_of(a)), uint2(abs_of(b))));
  return is_equal(b, int2(0, 0)) ? int2(-1, -1) : (a.y < 0) != (b.y < 0) ? negated(whole) : whole;
}
int2 truncated_modulus(int2 a, int2 b) {
  const int2 rest = int2(truncated_modulus(uint2(abs_of(a)), uint2(abs_of(b))));
  return is_equal(b, int2(0, 0)) ? int2(-1, -1) : a.y < 0 ? negated(rest) : rest;
}
int2 floored_modulus(int2 a, int2 b) {
  const int2 rest = truncated_modulus(a, b);
  const bool is_other_side = !is_equal(rest, int2(0, 0)) && (rest.y < 0) != (b.y < 0);
  return !is_equal(b, int2(0, 0)) && is_other_side ? sum(rest, b) : rest;
}

#define FOR_SCALARS(T) \
  T zero_of(T a) { return T(0); } \
  T one_of(T a) { return T(1); } \
  bool is_less(T a, T b) { return a < b; } \
  bool is_equal(T a, T b) { return a == b; } \
  T sum(T a, T b) { return a + b; } \
  T difference(T a, T b) { return a - b; } \
  T product(T a, T b) { return a * b; }
FOR_SCALARS(float)
FOR_SCALARS(int)
FOR_SCALARS(uint)
float negated(float a) { return -a; }
int negated(int a) { return -a; }
uint negated(uint a) { return 0 - a; }

#define FOR_NUMBERS(T) \
  T larger(T a, T b) { return is_less(b, a) ? a : b; } \
  T smaller(T a, T b) { return is_less(a, b) ? a : b; } \
  T square(T a) { return product(a, a); }
FOR_NUMBERS(float)
FOR_NUMBERS(int)
FOR_NUMBERS(uint)
FOR_NUMBERS(int2)
FOR_NUMBERS(uint2)

bool is_nan(int a) { return false; }
bool is_nan(uint a) { return false; }

float abs_of(float a) { return asfloat(asuint(a) & 0x7FFFFFFFu); }
int abs_of(int a) { return a < 0 ? -a : a; }
uint abs_of(uint a) { return a; }

float half_of(float a) { return a * 0.5f; }
int half_of(int a) { return a / 2; }
uint half_of(uint a) { return a / 2; }

// Whether no step of a correction overflows or is a denormal, which a device may take for 0. Below about 1e-31, the
// lower 12 bits of a number are such a denormal.
bool is_usual(float x) { return magnitude_of(x) > 1.0e-30f && magnitude_of(x) < 1.0e30f; }

// Nearly the nearest number, however the device divides: a quotient, and a little less than what it leaves, so that a
// right one stays.
float nearest_quotient(float a, float b) {
  const float q = quotient_of(a, b);
  return is_usual(a) && is_usual(b) && is_usual(q) ? q + remainder_of(a, q, b) * 0.9995f / b : q;
}

float quotient(float a, float b) {
  if (IS_OF_HALVES) return quotient_of(a, b);
  return nearest_quotient(a, b);
}
// Integers: x / 0 has all bits set; the smallest number / -1 is itself. Compilers evaluate both sides, so nothing is
// divided by what has no result. Unsigned divisions only: compilers disagree about others.
uint quotient(uint a, uint b) { return b == 0 ? 0xFFFFFFFFu : a / (b == 0 ? 1 : b); }
int quotient(int a, int b) {
  const uint divided = quotient(uint(abs_of(a)), uint(abs_of(b)));
  return b == 0 ? -1 : (a < 0) != (b < 0) ? -int(divided) : int(divided);
}

// a - b * trunc(a / b). Integers: x mod 0 has all bits set.
float truncated_modulus(float a, float b) { return a - b * trunc(nearest_quotient(a, b)); }
uint truncated_modulus(uint a, uint b) { return b == 0 ? 0xFFFFFFFFu : a % (b == 0 ? 1 : b); }
int truncated_modulus(int a, int b) {
  const uint rest = truncated_modulus(uint(abs_of(a)), uint(abs_of(b)));
  return b == 0 ? -1 : a < 0 ? -int(rest) : int(rest);
}

// a - b * floor(a / b).
float floored_modulus(float a, float b) { return a - b * floor(nearest_quotient(a, b)); }
uint floored_modulus(uint a, uint b) { return truncated_modulus(a, b); }
int floored_modulus(int a, int b) {
  const int rest = truncated_modulus(a, b);
  return b != 0 && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

uint count_bits(uint a) { return countbits(a); }
// Shifts take their amount modulo the bits that they compute with.
uint shifted_left(uint a, uint b) { return a << (b & 31); }
uint shifted_right(uint a, uint b) { return a >> (b & 31); }

float round_even(float a) { return nearest_even(a); }
float round_away(float a) {
  const float whole = trunc(a);
  return abs(a - whole) >= 0.5f ? whole + (a < 0.0f ? -1.0f : 1.0f) : with_sign_of(whole, a);
}
bool is_infinite(float a) { return abs_of(a) == infinity(); }
float chosen(bool condition, float a, float b) { return condition ? a : b; }

#include "half_functions.hlsli"
#define FOR_HALVES(name) \
  float name##_of(float a) { \
    if (IS_OF_HALVES) return half_##name(a); \
    return fast_##name(a); \
  }
FOR_HALVES(cos)
FOR_HALVES(erf)
FOR_HALVES(exp)
FOR_HALVES(expm1)
FOR_HALVES(gelu)
FOR_HALVES(log)
FOR_HALVES(normal_log)
FOR_HALVES(sigmoid)
FOR_HALVES(sin)
FOR_HALVES(tanh)

float acos_of(float a) { return fast_acos(a); }
float acosh_of(float a) { return fast_acosh(a); }
float asin_of(float a) { return fast_asin(a); }
float asinh_of(float a) { return fast_asinh(a); }
float atan_of(float a) { return fast_atan(a); }
float atanh_of(float a) { return fast_atanh(a); }
float cosh_of(float a) { return fast_cosh(a); }
float sinh_of(float a) { return fast_sinh(a); }
float softplus_of(float a) { return fast_softplus(a); }
float swish_of(float a, float b) {
  if (IS_OF_HALVES) return a * half_sigmoid(b);
  return fast_swish(a, b);
}
// Of denormals, too, which some devices take for 0.
float ceil_of(float a) { return asuint(a) - 1 < 0x007FFFFFu ? 1.0f : ceil(a); }
float floor_of(float a) { return asuint(a) - 0x80000001u < 0x007FFFFFu ? -1.0f : floor(a); }
// GPUs take the root of a denormal for 0.
float sqrt_of(float a) {
  const bool is_tiny = asuint(a) < 0x00800000u;
  return sqrt(is_tiny ? a * 16777216.0f : a) * (is_tiny ? 2.44140625e-4f : 1.0f);
}
float trunc_of(float a) { return trunc(a); }
float tan_of(float a) { return fast_tan(a); }
float pow_of(float a, float b) { return fast_pow(a, b); }
float atan2_of(float a, float b) { return fast_atan2(a, b); }
