// Functions of FLOAT16 whose result is FLOAT16, too: shorter than those of elementary.hlsli, which says how they are
// written, because a relative error of 2^-21 seldom changes what a FLOAT16 is rounded to. Angles, and numbers whose
// logarithm is taken, must be FLOAT16; the others take any number.

FUNCTION float half_exp(float x) {
  const float low = x < -87.0f ? -87.0f : x;
  const float bounded = low > 87.0f ? 87.0f : low;
  const float halvings = halvings_of(bounded);
  const float f = mad(bounded, 1.44269504f, rounder() - halvings);
  float p = 1.32647271e-3f;
  p = mad(p, f, 9.67151264e-3f);
  p = mad(p, f, 5.55073374e-2f);
  p = mad(p, f, 2.40222421e-1f);
  p = mad(p, f, 6.93146978e-1f);
  return mad(p, f, 1.0f) * power_of_two_in(halvings);
}

FUNCTION float half_expm1(float x) {
  const float low = x < -87.0f ? -87.0f : x;
  const float bounded = low > 87.0f ? 87.0f : low;
  const float halvings = halvings_of(bounded);
  const float f = mad(bounded, 1.44269504f, rounder() - halvings);
  // (2^f - 1) / f
  float p = 1.54532623e-4f;
  p = mad(p, f, 1.33909786e-3f);
  p = mad(p, f, 9.61808208e-3f);
  p = mad(p, f, 5.55035695e-2f);
  p = mad(p, f, 2.40226507e-1f);
  p = mad(p, f, 6.93147182e-1f);
  const float power = power_of_two_in(halvings);
  const float result = mad(power, p * f, power - 1.0f);
  return magnitude_of(x) < 1.0e-8f ? x : result;  // keeps the sign of 0
}

// Of a normal number of FLOAT32 above 0.
FUNCTION float half_normal_log(float x) {
  const uint bits = split_bits(x);
  const float f = split_rest(bits);
  // log(1 + f) / f
  float p = 0.0872235969f;
  p = mad(p, f, -0.143668458f);
  p = mad(p, f, 0.149522662f);
  p = mad(p, f, -0.165623933f);
  p = mad(p, f, 0.199568331f);
  p = mad(p, f, -0.250020742f);
  p = mad(p, f, 0.333341867f);
  p = mad(p, f, -0.499999881f);
  p = mad(p, f, 1.0f);
  return mad(exponent_in(bits), 0.693147181f, p * f);
}

// FLOAT16 has no numbers that are not normal numbers of FLOAT32.
FUNCTION float half_log(float x) {
  const float special = x == 0.0f ? -infinity() : x < 0.0f ? not_a_number() : x;
  return x > 0.0f && x < infinity() ? half_normal_log(x) : special;
}

FUNCTION float half_sigmoid(float x) {
  const float result = 1.0f / (1.0f + half_exp(-x));
  return x < -87.0f ? 0.0f : result;
}

// x P(x) for the normal distribution's P; that of -|x|, which is x less where x is not negative.
FUNCTION float half_gelu(float x) {
  const float a = magnitude_of(x) < 5.75f ? magnitude_of(x) : 5.75f;
  // The eighth root of P(-a)
  float r = 2.00154104e-09f;
  r = mad(r, a, -4.92477796e-08f);
  r = mad(r, a, 2.01343051e-07f);
  r = mad(r, a, 4.7677923e-06f);
  r = mad(r, a, -5.14648657e-05f);
  r = mad(r, a, 1.67969414e-05f);
  r = mad(r, a, 0.0015255807f);
  r = mad(r, a, -0.000686954954f);
  r = mad(r, a, -0.0319224568f);
  r = mad(r, a, -0.0914583396f);
  r = mad(r, a, 0.917004052f);
  const float square = r * r;
  const float fourth = square * square;
  const float tail = a * fourth * fourth;
  // Exact; -infinity times 0 is no number.
  return mad(x, x < 0.0f ? 0.0f : 1.0f, -tail);
}

FUNCTION float half_erf(float x) {
  const float square = x * x;
  const float u = (square < 6.75f ? square : 6.75f) - 3.375f;
  // erf(x) / x
  float p = 8.23462526e-10f;
  p = mad(p, u, -1.00733429e-08f);
  p = mad(p, u, 8.44999181e-08f);
  p = mad(p, u, -7.95337494e-07f);
  p = mad(p, u, 7.09817406e-06f);
  p = mad(p, u, -5.54961334e-05f);
  p = mad(p, u, 0.000386461556f);
  p = mad(p, u, -0.00240966507f);
  p = mad(p, u, 0.0136211107f);
  p = mad(p, u, -0.0741656131f);
  p = mad(p, u, 0.539228086f);
  const float result = x * p;
  return magnitude_of(result) > 1.0f ? with_sign_of(1.0f, x) : result;
}

FUNCTION float half_tanh(float x) {
  const float square = x * x;
  const float z = square < 20.4f ? square : 20.4f;
  // tanh(x) / x
  float n = 5.48716636e-6f;
  n = mad(n, z, 2.55621223e-3f);
  n = mad(n, z, 0.125948619f);
  n = mad(n, z, 0.999999976f);
  float d = 1.74893843e-4f;
  d = mad(d, z, 0.0223172412f);
  d = mad(d, z, 0.459281696f);
  d = mad(d, z, 1.0f);
  const float result = x * (n / d);
  return magnitude_of(result) > 1.0f ? with_sign_of(1.0f, x) : result;
}

// x less a multiple of pi, which is a sum of numbers of at most 8 bits and a rest: products with them are exact.
FUNCTION float without_half_turns(float x, float half_turns) {
  const float exact = (x - half_turns * 3.140625f) - half_turns * 9.65118408203125e-4f;
  return mad(half_turns, -2.53518159e-6f, exact);
}

// The sine of an angle of at most pi / 2; odd half turns, which are in the lowest bit, change its sign.
FUNCTION float sine_after(uint half_turns, float angle) {
  const float z = angle * angle;
  float p = 2.605765189e-6f;
  p = mad(p, z, -1.980959624e-4f);
  p = mad(p, z, 0.00833311956f);
  p = mad(p, z, -0.166666687f);
  return asfloat(asuint(angle * mad(p, z, 1.0f)) ^ (half_turns << 31));
}

FUNCTION float half_sin(float x) {
  const float half_turns = mad(x, 0.318309886f, rounder());
  return sine_after(asuint(half_turns), without_half_turns(x, half_turns - rounder()));
}

FUNCTION float half_cos(float x) {
  const float half_turns = mad(x, 0.318309886f, -0.5f) + rounder();
  return sine_after(asuint(half_turns) + 1u, without_half_turns(x, (half_turns - rounder()) + 0.5f));
}
