// For sequence.hlsl and lib/gpu/kernels/sequence.cpp: the same words in HLSL and C++.
struct SequenceParameters {
  uint start[2];  // one element, in its first bytes
  uint delta[2];
  uint vectors;   // of the output
};

// Numbers that both sides know.
#define VECTORS 4

// The specialization constants of sequence.hlsl.
#define SEQUENCE_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE) \
  VALUE(1, IS_CONSTANT)
