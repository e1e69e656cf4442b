// For walk.hlsli and lib/gpu/kernels/walk.hpp: the same words in HLSL and C++.
struct WalkParameters {
  uint rank;         // from 1 to 9
  uint extents[9];   // outermost first
  uint strides[27];  // of tensor k along axis a at 3 a + k; in elements
};
