// For band.hlsl and lib/gpu/kernels/band.cpp: the same words in HLSL and C++.
struct BandParameters {
  uint elements;       // of the output
  uint rows;           // of a matrix
  uint columns;
  uint column_stride;  // of the input, in elements
  int begin;           // the band's first diagonal
  int end;             // and the one behind it
  uint value[2];       // one element, in its first bytes
  WalkParameters walk;  // through the rows of all matrices; tensor 0 the input
};

// The specialization constants of band.hlsl.
#define BAND_SPECIALIZATION(VALUE) \
  VALUE(0, SIZE)        /* bytes of an element: 1, 2, 4 or 8 */ \
  VALUE(1, HAS_INPUT) \
  VALUE(2, IS_INVERTED) /* the value stands everywhere but in the band */
