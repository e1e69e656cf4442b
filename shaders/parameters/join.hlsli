// For join.hlsl and lib/gpu/kernels/join.cpp: the same words in HLSL and C++.
struct JoinParameters {
  uint elements;     // of the output
  uint row;          // elements for one index of the axes outside of the joined one
  uint starts[9];    // of part p in a row; behind the last one the end of it
  uint offsets[8];   // of part p: its first element in its input
  uint ranks[8];     // and its axes, at most 9
  uint extents[72];  // along axis a at 9 p + a
  uint strides[72];
};

// The specialization constants of join.hlsl.
#define JOIN_SPECIALIZATION(VALUE) \
  VALUE(0, ELEMENT_SIZE) /* bytes: 1, 2 or 4 */ \
  VALUE(1, PARTS) \
  VALUE(2, IS_PACKED)    /* all parts are */ \
  VALUE(3, IS_ALL)       /* no other parts are in the output */
