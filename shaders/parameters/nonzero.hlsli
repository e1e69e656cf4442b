// For nonzero_count.hlsl, nonzero.hlsl and lib/gpu/kernels/nonzero.cpp: the same words in HLSL and C++.
struct NonzeroParameters {
  uint elements;  // of the input
  uint block;     // elements
  uint blocks;
  // For nonzero.hlsl.
  uint output_elements;
  uint coordinates;  // of a row, at most 8
  uint extents[8];   // of their axes
  WalkParameters walk;  // tensor 0 the input
};
