// For unpool.hlsl and lib/gpu/kernels/unpool.cpp: the same words in HLSL and C++.
struct UnpoolParameters {
  uint elements;      // of the output
  uint image_extent;  // elements of the output for each image
  uint values;        // all of them
  uint per_image;     // values of an image
  uint rank;          // at most 8
  uint walk;          // values of one place that a stage adds up
  uint extents[8];    // of the values, outermost first
  uint value_strides[8];
  uint index_strides[8];
};

// Numbers that both sides know.
#define CLEARS 0
#define LISTS 1
#define WRITES 2
#define ADDS_UP 3
#define CLEARED_PER_THREAD 4

// The specialization constants of unpool.hlsl.
#define UNPOOL_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE) \
  VALUE(1, INDEX_TYPE) \
  VALUE(2, ADDS)
