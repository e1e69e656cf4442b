// For cast.hlsl and lib/gpu/kernels/cast.cpp: the same words in HLSL and C++.
struct CastParameters {
  uint elements;    // of the output
  uint rank;        // at most 8
  uint extents[8];  // outermost first
  uint strides[8];  // of the input; in elements
};
