// Sine, cosine and tangent of every FLOAT32, and atan2; they go with elementary.hlsli, which says how.

// The upper word of the product of 24 bits and 32.
FUNCTION uint upper_product(uint a, uint b) {
  const uint a_low = a & 0xFFFu, a_high = a >> 12;
  const uint b_low = b & 0xFFFFu, b_high = b >> 16;
  const uint from_12 = a_high * b_low + ((a_low * b_low) >> 12);
  const uint from_16 = a_low * b_high + (from_12 >> 4);
  return (a_high * b_high + (from_16 >> 12)) >> 4;
}

// 32 bits of two words from bit `shift` on, which is at most 31.
FUNCTION uint window_of(uint first, uint second, uint shift) {
  return (first << shift) | ((second >> 1) >> (31u - shift));
}

// An angle as quarter turns and what is left, of at most pi / 4: rest + correction with a sign bit.
struct Angle {
  uint quarters;
  uint sign_bit;
  float rest;
  float correction;
};

// |x| / (pi / 2), by the product of its mantissa with the bits of 2 / pi that matter at its exponent (Payne and Hanek).
FUNCTION Angle any_angle_of(float x) {
  const uint magnitude = asuint(x) & 0x7FFFFFFFu;
  const uint mantissa = (magnitude & 0x007FFFFFu) | 0x00800000u;
  const uint first = (magnitude >> 23) - 120u;  // bit of the words below; any below pi / 4
  const uint shift = first & 31u;
  // Words of 2 / pi: one of zeros before its point, and seven after it. Four of them are chosen.
  const bool by_four = (first & 128u) != 0u, by_two = (first & 64u) != 0u, by_one = (first & 32u) != 0u;
  const uint a0 = by_four ? 0xF534DDC0u : 0u;
  const uint a1 = by_four ? 0xDB629599u : 0xA2F9836Eu;
  const uint a2 = by_four ? 0x3C439041u : 0x4E441529u;
  const uint a3 = by_four ? 0xFE5163ABu : 0xFC2757D1u;
  const uint b0 = by_two ? a2 : a0;
  const uint b1 = by_two ? a3 : a1;
  const uint b2 = by_two ? 0xF534DDC0u : a2;
  const uint b3 = by_two ? 0xDB629599u : a3;
  const uint b4 = by_two ? 0x3C439041u : 0xF534DDC0u;
  const uint w0 = window_of(by_one ? b1 : b0, by_one ? b2 : b1, shift);
  const uint w1 = window_of(by_one ? b2 : b1, by_one ? b3 : b2, shift);
  const uint w2 = window_of(by_one ? b3 : b2, by_one ? b4 : b3, shift);
  // The product modulo four quarters: 2 bits of quarters, 62 of what is left. Of the last word a half is enough.
  const uint low_w1 = mantissa * w1;
  const uint lower = low_w1 + (((mantissa >> 8) * (w2 >> 16)) >> 8);
  const uint upper = mantissa * w0 + upper_product(mantissa, w1) + (lower < low_w1 ? 1u : 0u);
  const uint signed_upper = (upper << 2) | (lower >> 30);
  const uint negative = uint(int(signed_upper) >> 31);  // all bits or none: the rest is negative
  const uint rest_upper = signed_upper ^ negative;
  const uint rest_lower = (lower << 2) ^ negative;
  // As quarters: the first 12 bits, and two numbers that follow. Then in radians, with exact first products.
  const float head = float(int(rest_upper >> 19)) * 1.220703125e-4f;
  const float middle = float(int(rest_upper & 0x7FFFFu)) * 2.3283064365386963e-10f;
  const float last = float(int(rest_lower >> 8)) * 1.3877787807814457e-17f;
  const float tail = middle + last, tail_upper = upper_half(tail);
  const float tail_rest = (last - (tail - middle)) * 1.57079637f;
  const float more = (tail - tail_upper) * 1.5703125f + ((head + tail) * 4.83826792e-4f + tail_rest);
  const float head_radians = head * 1.5703125f, tail_radians = tail_upper * 1.5703125f;
  const float radians = head_radians + tail_radians;
  const float low = (tail_radians - (radians - head_radians)) + more;
  const float sum = radians + low;
  const bool is_small = magnitude < 0x3F490FDBu;  // pi / 4
  Angle angle;
  angle.quarters = is_small ? 0u : (upper >> 30) + (negative & 1u);
  angle.sign_bit = is_small ? 0u : negative & 0x80000000u;
  angle.rest = is_small ? magnitude_of(x) : sum;
  angle.correction = is_small ? 0.0f : low - (sum - radians);
  return angle;
}

// The same for |x| < 512, less k quarters, which are a sum of three numbers of at most 15 bits and a rest: products with
// them are exact. The rest of the angle has its sign.
FUNCTION Angle small_angle_of(float x) {
  const float a = magnitude_of(x);
  const float quarters = mad(a, 0.636619772f, rounder());
  const float k = quarters - rounder();
  const float first = a - k * 1.57080078f;
  const float second = k * -4.45451587e-6f;
  const float r = first - second;
  const float low = (((first - r) - second) - k * 6.07727202e-11f) - k * -1.71512451e-15f;
  Angle angle;
  angle.quarters = asuint(quarters);  // of which two bits count
  angle.sign_bit = 0u;
  angle.rest = r + low;
  angle.correction = low - (angle.rest - r);
  return angle;
}

#ifndef HAS_BRANCHES
FUNCTION Angle angle_of(float x) {
  const Angle small = small_angle_of(x), any = any_angle_of(x);
  const bool is_small = magnitude_of(x) < 512.0f;
  Angle angle;
  angle.quarters = is_small ? small.quarters : any.quarters;
  angle.sign_bit = is_small ? small.sign_bit : any.sign_bit;
  angle.rest = is_small ? small.rest : any.rest;
  angle.correction = is_small ? small.correction : any.correction;
  return angle;
}
#endif

// Sine and cosine as sums of a number and a small one.
struct SineAndCosine {
  float sine, sine_rest;
  float cosine, cosine_rest;
};

FUNCTION SineAndCosine sine_and_cosine(float r, float correction) {
  const float z = r * r;
  const float half_z = 0.5f * z;
  float s = -1.95178975e-4f;
  s = mad(s, z, 8.33218731e-3f);
  s = mad(s, z, -1.66666552e-1f);
  float c = 2.44323273e-5f;
  c = mad(c, z, -1.38873095e-3f);
  c = mad(c, z, 4.16666456e-2f);
  SineAndCosine both;
  both.sine = r;
  both.cosine = 1.0f - half_z;
  both.sine_rest = mad(correction, both.cosine, r * (z * s));
  both.cosine_rest = ((1.0f - both.cosine) - half_z) + mad(z * z, c, -(r * correction));
  return both;
}

// Each takes the angle of a finite x and turns its result by the quarters: two of them change the sign, and one swaps
// sine and cosine.
FUNCTION float sin_at(float x, Angle angle) {
  const SineAndCosine both = sine_and_cosine(angle.rest, angle.correction);
  const bool is_odd = (angle.quarters & 1u) != 0u;
  const float result = is_odd ? both.cosine + both.cosine_rest : both.sine + both.sine_rest;
  const uint sign_bit = (asuint(x) & 0x80000000u) ^ ((angle.quarters & 2u) << 30) ^ (is_odd ? 0u : angle.sign_bit);
  return asfloat(asuint(result) ^ sign_bit);
}

FUNCTION float cos_at(Angle angle) {
  const SineAndCosine both = sine_and_cosine(angle.rest, angle.correction);
  const bool is_odd = (angle.quarters & 1u) != 0u;
  const float result = is_odd ? both.sine + both.sine_rest : both.cosine + both.cosine_rest;
  const uint sign_bit = ((angle.quarters & 2u) << 30) ^ (is_odd ? angle.sign_bit ^ 0x80000000u : 0u);
  return asfloat(asuint(result) ^ sign_bit);
}

FUNCTION float tan_at(float x, Angle angle) {
  const SineAndCosine both = sine_and_cosine(angle.rest, angle.correction);
  const bool is_odd = (angle.quarters & 1u) != 0u;
  const float sine = both.sine + both.sine_rest;
  const float cosine = both.cosine + both.cosine_rest;
  const float sine_lost = both.sine_rest - (sine - both.sine);
  const float cosine_lost = both.cosine_rest - (cosine - both.cosine);
  const float n = is_odd ? cosine : sine, n_lost = is_odd ? cosine_lost : sine_lost;
  const float d = is_odd ? sine : cosine, d_lost = is_odd ? sine_lost : cosine_lost;
  const float inverse = 1.0f / d;
  const float q = n * inverse;
  const float result = q + ((remainder_of(n, q, d) + n_lost) - q * d_lost) * inverse;
  const uint sign_bit = (asuint(x) & 0x80000000u) ^ angle.sign_bit ^ (is_odd ? 0x80000000u : 0u);
  return asfloat(asuint(result) ^ sign_bit);
}

// Infinity has no sine. Where they may branch, usual numbers come first.
#ifdef HAS_BRANCHES
#define IF_SMALL(x, result) \
  if (magnitude_of(x) < 512.0f) return result;
#define ANGLE_OF any_angle_of
#else
#define IF_SMALL(x, result)
#define ANGLE_OF angle_of
#endif
FUNCTION float fast_sin(float x) {
  IF_SMALL(x, sin_at(x, small_angle_of(x)))
  return magnitude_of(x) < infinity() ? sin_at(x, ANGLE_OF(x)) : not_a_number();
}
FUNCTION float fast_cos(float x) {
  IF_SMALL(x, cos_at(small_angle_of(x)))
  return magnitude_of(x) < infinity() ? cos_at(ANGLE_OF(x)) : not_a_number();
}
FUNCTION float fast_tan(float x) {
  IF_SMALL(x, tan_at(x, small_angle_of(x)))
  return magnitude_of(x) < infinity() ? tan_at(x, ANGLE_OF(x)) : not_a_number();
}

// atan2: the angle of a point.
FUNCTION float fast_atan2(float y, float x) {
  const float a = magnitude_of(x), b = magnitude_of(y);
  const bool is_steep = b > a;
  const float larger_one = is_steep ? b : a, smaller_one = is_steep ? a : b;
  // No quotient of denormals, of infinities, or by 0; nothing whose reciprocal is a denormal.
  const bool is_special = larger_one == 0.0f || larger_one == infinity();
  const float scale = larger_one > 1.2676506e30f ? 5.4210109e-20f : larger_one < 1.07374182e9f ? 1.8446744e19f : 1.0f;
  const float n = is_special ? (smaller_one == infinity() ? 1.0f : 0.0f) : smaller_one * scale;
  const float d = is_special ? 1.0f : larger_one * scale;
  const float inverse = 1.0f / d;
  const float t = n * inverse;
  const float lost = remainder_of(n, t, d) * inverse;
  const float z = t * t;
  float p = -1.81212579e-3f;
  p = mad(p, z, 1.09786587e-2f);
  p = mad(p, z, -3.12590748e-2f);
  p = mad(p, z, 5.79988398e-2f);
  p = mad(p, z, -8.40354487e-2f);
  p = mad(p, z, 1.09515429e-1f);
  p = mad(p, z, -1.42640427e-1f);
  p = mad(p, z, 1.99985296e-1f);
  p = mad(p, z, -3.33332986e-1f);
  const float rest = mad(p * z, t, lost * mad(-0.5f, z, 1.0f));
  const bool is_left = (asuint(x) >> 31) != 0u;
  const float start = is_steep ? 1.57079637f : is_left ? 3.14159274f : 0.0f;
  const float start_rest = is_steep ? -4.37113883e-8f : is_left ? -8.74227766e-8f : 0.0f;
  const bool is_taken = is_steep != is_left;  // from where it starts
  const float angle = start + (start_rest + (is_taken ? -(t + rest) : t + rest));
  return is_nan(x) || is_nan(y) ? not_a_number() : with_sign_of(angle, y);
}
