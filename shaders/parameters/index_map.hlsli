// For index_map.hlsl and lib/gpu/kernels/index_map.cpp: the same words in HLSL and C++. Of an axis: x the extent, y the
// stride of the source, z the start padding, w the extent of the input.
struct IndexMapConstants {
  uint elements;       // of the output
  int offset;          // of the source's first element
  uint length_words;   // of a length of a reversal
  uint rank;
  uint reversed_axis;
  uint unused;
  uint fill_low, fill_high;  // one element
  uint4 axis0, axis1, axis2, axis3;  // outermost first
  uint4 axis4;                       // or the strides of the lengths along axes 0 to 3
};
// More axes stand here.
struct IndexMapAxes {
  uint4 axes[8];
  uint lengths_strides[8];
};

// Numbers that both sides know.
#define WAY_ELEMENTS 0
#define WAY_RUNS 1
#define WAY_EVERY_SECOND 2
#define BOUNDARY_NONE 0
#define BOUNDARY_CONSTANT 1
#define BOUNDARY_EDGE 2
#define BOUNDARY_REFLECTION 3
#define BOUNDARY_SYMMETRIC 4
#define BOUNDARY_WRAP 5
#define TABLE_AXES 8

// The specialization constants of index_map.hlsl.
#define INDEX_MAP_SPECIALIZATION(VALUE) \
  VALUE(0, GIVEN_BOUNDARY) /* enum Boundary */ \
  VALUE(1, RANK)     /* 1 to 5, or 8 where axes stand in the parameters */ \
  VALUE(2, GIVEN_REVERSAL) /* 0 none, 1 along the innermost axis, 2 along another */ \
  VALUE(3, VECTORS)  /* of a thread: 1, and in runs 4, too */
