// For cast.hlsl and lib/gpu/kernels/cast.cpp: the same words in HLSL and C++.
struct CastParameters {
  uint elements;    // of the output
  uint rank;        // at most 8
  uint extents[8];  // outermost first
  uint strides[8];  // of the input; in elements
};

// The specialization constants of cast.hlsl.
#define CAST_SPECIALIZATION(VALUE) \
  VALUE(0, FROM) \
  VALUE(1, TO) \
  VALUE(2, IS_LINEAR) /* the input stands as the output does */
