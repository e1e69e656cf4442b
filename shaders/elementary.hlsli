// Elementary functions of FLOAT32, in the language that HLSL and C++ share. In C++ they have no branches, so
// the CPU's compiler vectorizes them. tests/kernels/elementary_test.cpp holds their errors against
// double.
//
// Define FUNCTION before you include this: it stands before each function. In HLSL it is `precise`, and C++ is
// compiled without contraction: many functions need each sum and product rounded by itself. Where that does not matter,
// as in polynomials, they call mad, which a device may round once and reorder. Where HAS_FUSED_MAD is defined, it is
// always rounded once. Where HAS_BRANCHES is defined, functions may branch. C++ also has to define uint, asuint,
// asfloat, floor, sqrt and mad as HLSL has them.

// 2^n for n from -126 to 127.
FUNCTION float power_of_two(int n) { return asfloat(uint(n + 127) << 23); }

// Not a number.
FUNCTION float not_a_number() { return asfloat(0x7FC00000u); }
FUNCTION float infinity() { return asfloat(0x7F800000u); }

FUNCTION bool is_nan(float x) { return (asuint(x) & 0x7FFFFFFFu) > 0x7F800000u; }
FUNCTION float magnitude_of(float x) { return asfloat(asuint(x) & 0x7FFFFFFFu); }
FUNCTION float with_sign_of(float magnitude, float x) {
  return asfloat((asuint(magnitude) & 0x7FFFFFFFu) | (asuint(x) & 0x80000000u));
}

// n / d. GPUs divide by a reciprocal, which is too small for a number where d is above 2^126, and too large where d is
// a denormal.
FUNCTION float quotient_of(float n, float d) {
#ifdef HAS_BRANCHES
  const bool is_tiny = magnitude_of(d) < 1.17549435e-38f;
  const float part = magnitude_of(d) > 8.50705917e37f ? 0.25f : is_tiny ? 16777216.0f : 1.0f;
  return n / (d * part) * part;
#else
  return n / d;
#endif
}

// sqrt(x^2 + y^2), also where a square is too large or too small.
FUNCTION float hypotenuse(float x, float y) {
  const float a = magnitude_of(x), b = magnitude_of(y);
  const float large = a > b ? a : b;
  const float ratio = quotient_of(a > b ? b : a, large);
  const float length = large * sqrt(1.0f + ratio * ratio);
  const float special = large == 0.0f ? 0.0f : large == infinity() ? large : length;
  return is_nan(x) || is_nan(y) ? x + y : special;
}

// The first 12 bits of a number. Products of such numbers, and of what they leave, are exact.
FUNCTION float upper_half(float x) { return asfloat(asuint(x) & 0xFFFFF000u); }

// n - q d for a q near n / d: what the quotient leaves, nearly exact, however the device divides.
FUNCTION float remainder_of(float n, float q, float d) {
#ifdef HAS_FUSED_MAD
  return mad(-q, d, n);
#else
  const float q_upper = upper_half(q), d_upper = upper_half(d);
  const float upper_rest = n - q_upper * d_upper;  // exact
  return mad(-(q - q_upper), d, mad(-q_upper, d - d_upper, upper_rest));
#endif
}

// x^2 / 2 as a sum of two numbers, the first of which is nearly all of it, for |x| from 2^-50 to 2^60.
struct HalfSquare {
  float high, low;
};
FUNCTION HalfSquare half_square_of(float x) {
  HalfSquare square;
#ifdef HAS_FUSED_MAD
  square.high = 0.5f * x * x;
  square.low = mad(0.5f * x, x, -square.high);
#else
  const float upper = upper_half(x);
  const float lower = x - upper;
  square.high = 0.5f * upper * upper;  // exact
  square.low = lower * mad(0.5f, lower, upper);
#endif
  return square;
}

// A number of at most 2^22 plus this is rounded to an integer, which is in the lowest bits of the sum. That takes fewer
// steps than floor and a conversion, which GPUs do at an eighth of the rate.
FUNCTION float rounder() { return 12582912.0f; }
FUNCTION int integer_in(float rounded_sum) { return int(asuint(rounded_sum) - 0x4B400000u); }
// 2^n for such an integer n from -126 to 127.
FUNCTION float power_of_two_in(float rounded_sum) { return asfloat((asuint(rounded_sum) << 23) + 0x3F800000u); }

// 2^n x for n from -252 to 254, rounded once.
FUNCTION float scaled(float x, int n) {
  const int half_n = n >> 1;
  return x * power_of_two(half_n) * power_of_two(n - half_n);
}

// The integer nearest to x / ln 2, plus rounder(), for |x| < 2^20.
FUNCTION float halvings_of(float x) { return mad(x, 1.44269504f, rounder()); }

// x - k ln 2 for the integer k of halvings_of. The first constant has few bits, so that its product with k is exact.
FUNCTION float without_halvings(float x, float halvings) {
  const float k = halvings - rounder();
#ifdef HAS_FUSED_MAD
  const float r = mad(k, -0.693359375f, x);
#else
  const float r = x - k * 0.693359375f;
#endif
  return mad(k, 2.12194440e-4f, r);
}

// e^r - 1 for |r| <= ln 2 / 2.
FUNCTION float small_expm1(float r) {
  float p = 1.9875691500e-4f;
  p = mad(p, r, 1.3981999507e-3f);
  p = mad(p, r, 8.3334519073e-3f);
  p = mad(p, r, 4.1665795894e-2f);
  p = mad(p, r, 1.6666665459e-1f);
  p = mad(p, r, 5.0000001201e-1f);
  return mad(p, r * r, r);
}

// 2^shift e^x, also where e^x alone is too large.
FUNCTION float scaled_exp(float x, int shift) {
  const float low = x < -104.0f ? -104.0f : x;
  const float bounded = low > 90.0f ? 90.0f : low;
  const float halvings = halvings_of(bounded);
  const float power = 1.0f + small_expm1(without_halvings(bounded, halvings));
  return scaled(power, integer_in(halvings) + shift);
}

FUNCTION float fast_exp(float x) { return scaled_exp(x, 0); }

FUNCTION float fast_expm1(float x) {
  const float low = x < -20.0f ? -20.0f : x;
  const float bounded = low > 89.0f ? 89.0f : low;
  const float halvings = halvings_of(bounded);
  const float small = small_expm1(without_halvings(bounded, halvings));
  const float half_power = power_of_two(integer_in(halvings) - 1);  // a half of 2^n, which may be too large
  const float result = 2.0f * (half_power * small + (half_power - 0.5f));
  return magnitude_of(x) < 1.0e-8f ? x : result;
}

// The logarithm of 2^k (1 + f), plus c, for 1 + f between sqrt(1/2) and sqrt(2).
FUNCTION float log_of_parts(float k, float f, float c) {
  const float s = f / (2.0f + f);
  const float z = s * s;
  const float w = z * z;
  const float even = w * mad(w, 0.24279078841f, 0.40000972152f);
  const float odd = z * mad(w, 0.28498786688f, 0.66666662693f);
  const float half_square = 0.5f * f * f;
  return s * (half_square + (even + odd)) + (k * 9.0580006145e-6f + c) - half_square + f +
         k * 6.9313812256e-1f;
}

// Where a number is split: sqrt(1/2).
FUNCTION uint split_bits(float x) { return asuint(x) + (0x3F800000u - 0x3F3504F3u); }
// The exponent of a positive number by its split bits; the sum is exact.
FUNCTION float exponent_in(uint bits) { return asfloat((bits >> 23) + 0x4B000000u) - 8388735.0f; }
FUNCTION float split_rest(uint bits) { return asfloat((bits & 0x007FFFFFu) + 0x3F3504F3u) - 1.0f; }

// Of a normal number above 0.
FUNCTION float fast_normal_log(float x) {
  const uint bits = split_bits(x);
  return log_of_parts(exponent_in(bits), split_rest(bits), 0.0f);
}

FUNCTION float fast_log(float x) {
  const bool is_small = x < 1.17549435e-38f;
  const float normal = is_small ? x * 8388608.0f : x;
  const uint bits = split_bits(normal);
  const float k = exponent_in(bits) - (is_small ? 23.0f : 0.0f);
  const float result = log_of_parts(k, split_rest(bits), 0.0f);
  const float special = x == 0.0f ? -infinity() : x < 0.0f ? not_a_number() : x;
  return x > 0.0f && x < infinity() ? result : special;
}

// log(1 + x): what 1 + x loses by rounding is added again.
FUNCTION float fast_log1p(float x) {
  const float u = 1.0f + x;
  const uint bits = split_bits(u);
  const int n = int(bits >> 23) - 127;
  const float lost = n >= 2 ? 1.0f - (u - x) : x - (u - 1.0f);
  const float f = n == 0 ? x : split_rest(bits);
  const float c = n == 0 ? 0.0f : lost / u;
  const float result = log_of_parts(float(n), f, c);
  const float special = x == -1.0f ? -infinity() : x < -1.0f ? not_a_number() : x;
  return magnitude_of(x) < 1.0e-8f ? x : x > -1.0f && x < infinity() ? result : special;
}

FUNCTION float fast_sinh(float x) {
  const float a = magnitude_of(x);
  const float e = fast_expm1(a);
  const float small = 0.5f * (e + e / (e + 1.0f));
  return with_sign_of(a > 20.0f || is_nan(a) ? scaled_exp(a, -1) : small, x);
}

FUNCTION float fast_cosh(float x) {
  const float a = magnitude_of(x);
  return scaled_exp(a, -1) + scaled_exp(-a, -1);
}

FUNCTION float fast_tanh(float x) {
  const float a = magnitude_of(x);
  const float z = a * a;
  float p = -5.70498872745e-3f;
  p = mad(p, z, 2.06390887954e-2f);
  p = mad(p, z, -5.37397155531e-2f);
  p = mad(p, z, 1.33314422036e-1f);
  p = mad(p, z, -3.33332819422e-1f);
  const float near = mad(p * z, a, a);
  const float twice = a > 10.0f ? 20.0f : 2.0f * a;
  const float halvings = halvings_of(twice);
  const float power = power_of_two_in(halvings);
  const float far = 1.0f - 2.0f / (power * small_expm1(without_halvings(twice, halvings)) + (power + 1.0f));
  return with_sign_of(a < 0.625f ? near : far, x);
}

FUNCTION float fast_asinh(float x) {
  const float a = magnitude_of(x);
  const float bounded = a > 1.0e9f ? 1.0e9f : a;
  const float square = bounded * bounded;
  const float near = fast_log1p(bounded + square / (1.0f + sqrt(square + 1.0f)));
  const float far = fast_log(a) + 0.69314718f;
  return is_nan(x) ? x : with_sign_of(a > 1.0e9f ? far : near, x);
}

FUNCTION float fast_acosh(float x) {
  const float t = x - 1.0f;
  const float near = fast_log1p(t + sqrt(2.0f * t + t * t));
  const float far = fast_log(x) + 0.69314718f;
  return x > 1.0e9f ? far : x >= 1.0f ? near : not_a_number();
}

FUNCTION float fast_atanh(float x) {
  const float a = magnitude_of(x);
  return with_sign_of(0.5f * fast_log1p(2.0f * a / (1.0f - a)), x);
}

// (asin(s) - s) / s for the square z of s, for s up to 1/2.
FUNCTION float asin_rest(float z) {
  float p = 4.2163199048e-2f;
  p = mad(p, z, 2.4181311049e-2f);
  p = mad(p, z, 4.5470025998e-2f);
  p = mad(p, z, 7.4953002686e-2f);
  p = mad(p, z, 1.6666752422e-1f);
  return p * z;
}
FUNCTION float small_asin(float s, float z) { return mad(asin_rest(z), s, s); }

// pi / 2 - 2 asin(sqrt(z)): with what the square root loses by rounding.
FUNCTION float large_asin(float z) {
  const float s = sqrt(z);
  const float high = asfloat(asuint(s) & 0xFFFFF000u);
  const float low = s > 0.0f ? (z - high * high) / (s + high) : 0.0f;
  const float rest = 2.0f * s * asin_rest(z) - (-4.37113883e-8f - 2.0f * low);
  return 0.785398185f - (rest - (0.785398185f - 2.0f * high));
}

FUNCTION float fast_asin(float x) {
  const float a = magnitude_of(x);
  const bool is_large = a > 0.5f;
  const float z = is_large ? 0.5f * (1.0f - a) : a * a;
  const float angle = is_large ? large_asin(z) : small_asin(a, z);
  return a > 1.0f || is_nan(x) ? not_a_number() : with_sign_of(angle, x);
}

FUNCTION float fast_acos(float x) {
  const float a = magnitude_of(x);
  const bool is_large = a > 0.5f;
  const float z = is_large ? 0.5f * (1.0f - a) : a * a;
  const float angle = small_asin(is_large ? sqrt(z) : a, z);
  const float near_zero = 1.57079637f - (with_sign_of(angle, x) - -4.37113883e-8f);
  const float near_minus_one = 3.14159274f - (2.0f * angle - -8.74227766e-8f);
  const float result = is_large ? (x < 0.0f ? near_minus_one : 2.0f * angle) : near_zero;
  return a > 1.0f || is_nan(x) ? not_a_number() : result;
}

FUNCTION float fast_atan(float x) {
  const float a = magnitude_of(x);
  const bool is_large = a > 2.41421356f, is_middle = a > 0.41421356f;
  const float t = is_large ? -1.0f / a : is_middle ? (a - 1.0f) / (a + 1.0f) : a;
  const float start = is_large ? 1.57079637f : is_middle ? 0.785398185f : 0.0f;
  const float rest = is_large ? -4.37113883e-8f : is_middle ? -2.18556941e-8f : 0.0f;
  const float z = t * t;
  float p = 8.05374449538e-2f;
  p = mad(p, z, -1.38776856032e-1f);
  p = mad(p, z, 1.99777106478e-1f);
  p = mad(p, z, -3.33329491539e-1f);
  const float angle = start + (mad(p * z, t, rest) + t);
  return is_nan(x) ? x : with_sign_of(angle, x);
}

FUNCTION float fast_sigmoid(float x) {
  const float e = fast_exp(-magnitude_of(x));
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

// x / (1 + e^-z). A power that may be too small for a number is 2^64 times as large at first.
FUNCTION float fast_swish(float x, float z) {
  const bool is_far = z < -64.0f;
  const float most = is_far ? 200.0f : 100.0f;
  const float low = magnitude_of(z) > most ? -most : -magnitude_of(z);
  const float halvings = halvings_of(low);
  const float power = 1.0f + small_expm1(without_halvings(low, halvings));
  const float e = scaled(power, integer_in(halvings) + (is_far ? 64 : 0));
  const float sigmoid = (z < 0.0f ? e : 1.0f) / (1.0f + e);
  return x * sigmoid * (is_far ? 5.42101086e-20f : 1.0f);
}

// log(1 + e^x).
FUNCTION float fast_softplus(float x) {
  return (x > 0.0f ? x : 0.0f) + fast_log1p(fast_exp(-magnitude_of(x)));
}

// --- powers

// y log2(a) as a sum of two numbers, for a = 2^k m with m between sqrt(1/2) and sqrt(2), whose split bits are given.
struct PowerSum {
  float high, low;
};
FUNCTION PowerSum power_of(uint bits, float k, float y) {
  const float m = asfloat((bits & 0x007FFFFFu) + 0x3F3504F3u);
  // log2(m) is that of a center near it and 2 / ln 2 atanh(s), s = (m - center) / (m + center).
  const bool is_low = m < 0.890898705f, is_high = m > 1.12246203f;
  const float center = is_low ? 0.793745279f : is_high ? 1.25985003f : 1.0f;
  const float whole = k + (is_low ? -0.333251953125f : is_high ? 0.333251953125f : 0.0f);
  const float part = is_low ? -3.51895366e-8f : is_high ? 4.97975705e-8f : 0.0f;
  const float n = m - center, d = m + center;
  const float inverse = 1.0f / d;
  const float s = n * inverse;
  const float s_rest = mad(-s, m - (d - center), remainder_of(n, s, d)) * inverse;
  const float z = s * s;
  const float q = mad(z, mad(z, 0.415348023f, 0.577069104f), 0.961796701f);
  const float s_upper = upper_half(s);
  const float product = s_upper * 2.884765625f;  // exact
  const float last = mad(s, 6.24456792e-4f, mad(s_rest, 2.88539004f, s * z * q) + part);
  const float more = mad(s - s_upper, 2.884765625f, last);
  // log2(a) = high + low, where high has 12 bits; then its product with y.
  const float sum = whole + product;
  const float low_sum = (product - (sum - whole)) + more;
  const float high = upper_half(sum + low_sum);
  const float low = (sum - high) + low_sum;
  const float y_upper = upper_half(y);
  PowerSum power;
  power.high = y_upper * high;  // exact
  power.low = mad(y - y_upper, high, y * low);
  return power;
}

// 2^g for |g| <= 1/2, or a little more.
FUNCTION float small_exp2(float g) {
  float p = 1.58179697e-4f;
  p = mad(p, g, 1.34182721e-3f);
  p = mad(p, g, 9.61706415e-3f);
  p = mad(p, g, 5.55027239e-2f);
  p = mad(p, g, 2.40226552e-1f);
  p = mad(p, g, 6.93147242e-1f);
  return mad(p, g, 1.0f);
}

// x^y with the special cases of C's pow: 2^(y log2(|x|)).
FUNCTION float fast_pow(float x, float y) {
#ifdef HAS_BRANCHES
  // Usual numbers first: positive normal ones, and powers that are normal.
  const uint usual_bits = split_bits(x);
  const PowerSum usual = power_of(usual_bits, exponent_in(usual_bits), y);
  const float usual_power = usual.high + usual.low;
  if (asuint(x) - 0x00800000u < 0x7F000000u && magnitude_of(usual_power) < 125.0f) {
    const float whole = usual_power + rounder();
    return small_exp2((usual.high - (whole - rounder())) + usual.low) * power_of_two_in(whole);
  }
#endif
  const float a = magnitude_of(x);
  // A denormal is an integer.
  const bool is_denormal = asuint(a) < 0x00800000u;
  const float normal = is_denormal ? float(int(asuint(a))) : a;
  const uint bits = split_bits(normal);
  const float k = exponent_in(bits) - (is_denormal ? 149.0f : 0.0f);
  const float y_low_bound = y < -4294967296.0f ? -4294967296.0f : y;
  const PowerSum parts = power_of(bits, k, y_low_bound > 4294967296.0f ? 4294967296.0f : y_low_bound);
  const float power = parts.high + parts.low;
  const bool is_bounded = magnitude_of(power) < 200.0f;
  const float nearest = power + rounder();
  const float g = (parts.high - (nearest - rounder())) + parts.low;
  const float ordinary = scaled(small_exp2(g), integer_in(nearest));
  // 0 and infinity have no logarithm, and not every power is a number.
  const bool is_extreme = a == 0.0f || a == infinity();
  const float far_power = a == 0.0f ? -y : a == infinity() ? y : power;
  const float result = !is_extreme && is_bounded ? ordinary : far_power > 0.0f ? infinity() : 0.0f;
  const bool is_whole = floor(y) == y;
  const bool is_odd = is_whole && floor(y * 0.5f) != y * 0.5f;
  const float with_sign = is_odd ? with_sign_of(result, x) : result;
  const bool is_invalid = x < 0.0f && a < infinity() && !is_whole;
  const float number = is_nan(x) || is_nan(y) || is_invalid ? not_a_number() : with_sign;
  return y == 0.0f || x == 1.0f ? 1.0f : number;
}

// --- the error function

// (erf(x) - x) for the square z of x, for |x| up to 0.85.
FUNCTION float small_erf_rest(float x, float z) {
  float p = 7.86958044e-5f;
  p = mad(p, z, -8.02664727e-4f);
  p = mad(p, z, 5.19094802e-3f);
  p = mad(p, z, -2.68553644e-2f);
  p = mad(p, z, 1.12836227e-1f);
  p = mad(p, z, -3.76126289e-1f);
  p = mad(p, z, 1.28379166e-1f);
  return p * x;
}

FUNCTION float fast_erf(float x) {
  const float a = magnitude_of(x);
  const float near = small_erf_rest(a, a * a) + a;
  // 1 - e^-p
  const float bounded = a > 4.0f ? 4.0f : a;
  float p = -2.15707507e-4f;
  p = mad(p, bounded, 3.22903716e-3f);
  p = mad(p, bounded, -2.29347255e-2f);
  p = mad(p, bounded, 1.05330996e-1f);
  p = mad(p, bounded, 6.35666370e-1f);
  p = mad(p, bounded, 1.12852955f);
  p = p * -bounded;
  const float halvings = halvings_of(p);
  const float power = power_of_two_in(halvings);
  const float far = (1.0f - power) - power * small_expm1(without_halvings(p, halvings));
  return with_sign_of(a < 0.85f ? near : far, x);
}

// x P(x) for the normal distribution's P: by that of -|x|, which is x less where x is not negative. P(-a) is
// e^(-a^2 / 2) w (1 + Q(a w)) / 4, where w = 1 / (1 + c a).
FUNCTION float fast_gelu(float x) {
  const float a = magnitude_of(x);
  const float bounded = a < 14.5f ? a : 14.5f;
  const HalfSquare square = half_square_of(bounded);
  const float aw = bounded / mad(bounded, 0.265829623f, 1.0f);
  const float u = mad(aw, 0.265829623f, -0.390625f);  // c a w less its middle
  float q = 0.122364463f;
  q = mad(q, u, -0.0303252792f);
  q = mad(q, u, -0.302704146f);
  q = mad(q, u, 0.226595472f);
  q = mad(q, u, 0.58590324f);
  q = mad(q, u, -1.57858523f);
  q = mad(q, u, 1.98193731f);
  q = mad(q, u, -1.63306964f);
  q = mad(q, u, -0.045042196f);
  const float halvings = halvings_of(-square.high);
  const float power = small_expm1(without_halvings(-square.high, halvings) - square.low);
  // The power of two may be too small for a number: it is 2^64 times as large at first.
  const float more = q + mad(q, power, power);
  const float tail = mad(aw, more, aw) * asfloat((asuint(halvings) << 23) + 0x5E800000u) * 5.42101086e-20f;
  // Exact; -infinity times 0 is no number.
  return mad(x, x < 0.0f ? 0.0f : 1.0f, -tail);
}
