// For integer_power.hlsl and lib/gpu/kernels/integer_power.cpp: the same words in HLSL and C++.
struct IntegerPowerParameters {
  uint elements;       // of the output
  float scale, bias;   // of the bases
  WalkParameters walk;  // tensor 0 the bases, 1 the exponents
};

// The specialization constants of integer_power.hlsl.
#define INTEGER_POWER_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE)          /* of the bases and the powers */ \
  VALUE(1, EXPONENT_TYPE) \
  VALUE(2, IS_SCALED)     /* the bases */
