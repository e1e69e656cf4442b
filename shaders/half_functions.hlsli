// Functions of FLOAT16 whose result is FLOAT16, too: shorter than those of elementary.hlsli, which says how they are
// written, because a relative error of 2^-21 seldom changes what a FLOAT16 is rounded to. Only the angles must be
// FLOAT16; the others take any number.

// 2^x for x from -100 to 100.
FUNCTION float half_exp2(float x) {
  const float rounded = x + rounder();
  const float f = x - (rounded - rounder());
  float p = 1.544541363e-4f;
  p = mad(p, f, 1.340123744e-3f);
  p = mad(p, f, 9.618097241e-3f);
  p = mad(p, f, 5.550325175e-2f);
  p = mad(p, f, 2.402265073e-1f);
  p = mad(p, f, 6.931472077e-1f);
  return asfloat(asuint(mad(p, f, 1.0f)) + (asuint(rounded) << 23));
}

// x P(x) for the normal distribution's P; that of -|x|, which is x less where x is not negative.
FUNCTION float half_gelu(float x) {
  const float a = magnitude_of(x) < 5.8f ? magnitude_of(x) : 5.8f;
  // log2(P(-a))
  float q = 3.551863204e-9f;
  q = mad(q, a, -1.227102936e-7f);
  q = mad(q, a, 1.900548634e-6f);
  q = mad(q, a, -1.727047432e-5f);
  q = mad(q, a, 9.906319408e-5f);
  q = mad(q, a, -3.285908311e-4f);
  q = mad(q, a, 6.225959509e-5f);
  q = mad(q, a, 6.90385009e-3f);
  q = mad(q, a, -5.242806511e-2f);
  q = mad(q, a, -4.59221333e-1f);
  q = mad(q, a, -1.15110457f);
  q = mad(q, a, -0.999999881f);
  const float tail = a * half_exp2(q);
  const float result = x < 0.0f ? -tail : x - tail;
  return is_nan(x) || x == -infinity() ? not_a_number() : result;
}

FUNCTION float half_erf(float x) {
  const float square = x * x;
  const float u = (square < 7.2f ? square : 7.2f) - 3.375f;
  // erf(x) / x
  float p = -6.185466817e-11f;
  p = mad(p, u, 8.695015683e-10f);
  p = mad(p, u, -8.162885665e-9f);
  p = mad(p, u, 8.321453887e-8f);
  p = mad(p, u, -8.167177161e-7f);
  p = mad(p, u, 7.110671385e-6f);
  p = mad(p, u, -5.53919807e-5f);
  p = mad(p, u, 3.8641232e-4f);
  p = mad(p, u, -2.409870641e-3f);
  p = mad(p, u, 0.0136211766f);
  p = mad(p, u, -0.0741655231f);
  p = mad(p, u, 0.539228082f);
  const float result = x * p;
  return magnitude_of(result) > 1.0f ? with_sign_of(1.0f, x) : result;
}

// e / (e + 2) for e = e^(2 |x|) - 1
FUNCTION float half_tanh(float x) {
  const float twice = magnitude_of(x) > 5.0f ? 10.0f : 2.0f * magnitude_of(x);
  const float halvings = halvings_of(twice);
  const float power = power_of_two_in(halvings);
  const float e = mad(power, small_expm1(without_halvings(twice, halvings)), power - 1.0f);
  return with_sign_of(e / (e + 2.0f), x);
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
