// For gather.hlsl and lib/gpu/kernels/gather.cpp: the same words in HLSL and C++.
struct GatherParameters {
  uint elements;      // of the output
  uint coordinates;   // indices of an element
  uint extents[8];    // of the axes that they point into
  uint strides[8];    // of these axes in the input, in elements
  uint offsets[8];    // where the index stands in a tuple of them, in elements of the indices
  WalkParameters walk;  // tensor 0 the input, 1 the indices
};

// Numbers that both sides know.
#define RANK_MOST 3
#define VECTORS 4
#define VECTORS_MOST 4

// The specialization constants of gather.hlsl.
#define GATHER_SPECIALIZATION(VALUE) \
  VALUE(0, ELEMENT_SIZE) /* bytes: 1, 2, 4 or 16 */ \
  VALUE(1, INDEX_TYPE) \
  VALUE(2, LARGE_INDEX) \
  VALUE(3, HAS_RUNS)     /* elements of a row have one index and stand side by side in the input */ \
  VALUE(4, RANK)         /* of the walk where it is at most RANK_MOST and elements have one index; otherwise 0 */

// The specialization constants of gather_elements.hlsl.
#define GATHER_ELEMENTS_SPECIALIZATION(VALUE) \
  VALUE(0, ELEMENT_SIZE) /* bytes: 2 or 4 */ \
  VALUE(1, INDEX_TYPE) \
  VALUE(2, LARGE_INDEX) \
  VALUE(3, LOADS)        /* vectors of the input that a thread brings: at most VECTORS_MOST */ \
  VALUE(4, OUTPUTS)      /* vectors of the output that it stores: at most VECTORS_MOST */
