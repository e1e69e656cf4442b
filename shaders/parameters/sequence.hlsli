// For sequence.hlsl and lib/gpu/kernels/sequence.cpp: the same words in HLSL and C++.
struct SequenceParameters {
  uint start[2];  // one element, in its first bytes
  uint delta[2];
  uint vectors;   // of the output
};
