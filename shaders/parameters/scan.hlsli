// For scan.hlsl and lib/gpu/kernels/scan.cpp: the same words in HLSL and C++.
struct ScanParameters {
  uint elements;
  uint length;  // of a sequence
  uint stride;  // of its elements in the input
  uint inner;   // sequences that stand beside each other
  uint axes;    // the other ones
  uint extents[8];  // outermost first
  uint strides[8];
  uint levels;
  uint counts[8];  // of level i: the cells of a sequence
  uint begins[8];  // where the level begins in the scratch, in cells
};
