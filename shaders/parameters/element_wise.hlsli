// For element_wise.hlsl and lib/gpu/kernels/element_wise.cpp: the same words in HLSL and C++.
struct ElementWiseParameters {
  uint elements;     // of the output
  uint rank;         // at most 8
  uint extents[8];   // outermost first
  uint strides[64];  // of input k along axis a at 8 k + a; in elements
  float reals[4];    // parameters as numbers
  uint integers[8];  // and as integers of 64 bits, low words first
  float constants[8];  // inputs that are one number
  float scale;       // of the first input
  float bias;
};
