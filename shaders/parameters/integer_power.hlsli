// For integer_power.hlsl and lib/gpu/kernels/integer_power.cpp: the same words in HLSL and C++.
struct IntegerPowerParameters {
  uint elements;       // of the output
  float scale, bias;   // of the bases
  WalkParameters walk;  // tensor 0 the bases, 1 the exponents
};
