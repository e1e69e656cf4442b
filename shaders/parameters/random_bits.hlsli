// For random_bits.hlsl and lib/gpu/resident/random_bits.cpp: the same words in HLSL and C++.
struct RandomBitsParameters {
  uint state_stride;  // elements
  uint blocks;        // of four elements
};
