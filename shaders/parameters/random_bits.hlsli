// For random_bits.hlsl and lib/gpu/kernels/random_bits.cpp: the same words in HLSL and C++.
struct RandomBitsParameters {
  uint state_stride;  // elements
  uint blocks;        // of four elements
};

// The specialization constants of random_bits.hlsl.
#define RANDOM_BITS_SPECIALIZATION(VALUE) \
  VALUE(0, IS_NEXT_STATE)
