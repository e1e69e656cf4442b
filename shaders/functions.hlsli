// The functions that expressions.def calls, in HLSL; for the CPU they stand in lib/cpu/elementary-inl.hpp.
#define FOR_NUMBERS(T) \
  T larger(T a, T b) { return a > b ? a : b; } \
  T smaller(T a, T b) { return a < b ? a : b; }
FOR_NUMBERS(float)
FOR_NUMBERS(int)
FOR_NUMBERS(uint)

bool is_nan(int) { return false; }
bool is_nan(uint) { return false; }

float abs_of(float a) { return asfloat(asuint(a) & 0x7FFFFFFFu); }
int abs_of(int a) { return a < 0 ? -a : a; }
uint abs_of(uint a) { return a; }

float half_of(float a) { return a * 0.5f; }
int half_of(int a) { return a / 2; }
uint half_of(uint a) { return a / 2; }

// Integers: x / 0 has all bits set; the smallest number / -1 is itself. Compilers evaluate both sides, so nothing is
// divided by what has no result. Unsigned divisions only: compilers disagree about others.
float quotient(float a, float b) { return a / b; }
uint quotient(uint a, uint b) { return b == 0 ? 0xFFFFFFFFu : a / (b == 0 ? 1 : b); }
int quotient(int a, int b) {
  const uint divided = quotient(uint(abs_of(a)), uint(abs_of(b)));
  return b == 0 ? -1 : (a < 0) != (b < 0) ? -int(divided) : int(divided);
}

// a - b * trunc(a / b). Integers: x mod 0 has all bits set.
float truncated_modulus(float a, float b) { return a - b * trunc(a / b); }
uint truncated_modulus(uint a, uint b) { return b == 0 ? 0xFFFFFFFFu : a % (b == 0 ? 1 : b); }
int truncated_modulus(int a, int b) {
  const uint rest = truncated_modulus(uint(abs_of(a)), uint(abs_of(b)));
  return b == 0 ? -1 : a < 0 ? -int(rest) : int(rest);
}

// a - b * floor(a / b).
float floored_modulus(float a, float b) { return a - b * floor(a / b); }
uint floored_modulus(uint a, uint b) { return truncated_modulus(a, b); }
int floored_modulus(int a, int b) {
  const int rest = truncated_modulus(a, b);
  return b != 0 && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

uint count_bits(uint a) { return countbits(a); }
// Shifts take their amount modulo the bits that they compute with.
uint shift_amount(uint a) { return a & 31; }

float round_even(float a) { return nearest_even(a); }
float round_away(float a) {
  const float whole = trunc(a);
  return abs(a - whole) >= 0.5f ? whole + (a < 0.0f ? -1.0f : 1.0f) : with_sign_of(whole, a);
}
bool is_infinite(float a) { return abs_of(a) == infinity(); }

float acos_of(float a) { return fast_acos(a); }
float acosh_of(float a) { return fast_acosh(a); }
float asin_of(float a) { return fast_asin(a); }
float asinh_of(float a) { return fast_asinh(a); }
float atan_of(float a) { return fast_atan(a); }
float atanh_of(float a) { return fast_atanh(a); }
float cosh_of(float a) { return fast_cosh(a); }
float exp_of(float a) { return fast_exp(a); }
float expm1_of(float a) { return fast_expm1(a); }
float log_of(float a) { return fast_log(a); }
float sigmoid_of(float a) { return fast_sigmoid(a); }
float sinh_of(float a) { return fast_sinh(a); }
float softplus_of(float a) { return fast_softplus(a); }
float tanh_of(float a) { return fast_tanh(a); }
float ceil_of(float a) { return ceil(a); }
float floor_of(float a) { return floor(a); }
float sqrt_of(float a) { return sqrt(a); }
float trunc_of(float a) { return trunc(a); }
float sin_of(float a) { return fast_sin(a); }
float cos_of(float a) { return fast_cos(a); }
float tan_of(float a) { return fast_tan(a); }
float erf_of(float a) { return fast_erf(a); }
float gelu_of(float a) { return fast_gelu(a); }
float pow_of(float a, float b) { return fast_pow(a, b); }
float atan2_of(float a, float b) { return fast_atan2(a, b); }
