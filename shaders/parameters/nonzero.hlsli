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

// Numbers that both sides know.
#define LANES 256
#define RUN_WORDS 32

// The specialization constants of nonzero.hlsli.
#define NONZERO_SPECIALIZATION(VALUE) \
  VALUE(0, SIZE)      /* bytes of an element: 1, 2, 4 or 8 */ \
  VALUE(1, IS_REAL)   /* the sign of an element does not count */ \
  VALUE(2, IS_PACKED) /* the input is */
