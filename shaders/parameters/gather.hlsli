// For gather.hlsl and lib/gpu/kernels/gather.cpp: the same words in HLSL and C++.
struct GatherParameters {
  uint elements;      // of the output
  uint coordinates;   // indices of an element
  uint extents[8];    // of the axes that they point into
  uint strides[8];    // of these axes in the input, in elements
  uint offsets[8];    // where the index stands in a tuple of them, in elements of the indices
  WalkParameters walk;  // tensor 0 the input, 1 the indices
};
