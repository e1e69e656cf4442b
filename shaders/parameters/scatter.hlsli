// For scatter.hlsl and lib/gpu/kernels/scatter.cpp: the same words in HLSL and C++.
struct ScatterParameters {
  uint elements;        // of the output
  uint keys;            // groups of elements that are updated as one, in the order of the output
  uint key_elements;    // elements of one
  uint place_keys;      // keys of a place of the coordinates
  uint places;          // of all coordinates
  uint coordinates;
  uint extents[8];      // of the axes that the indices point into
  uint offsets[8];      // where the index stands in a tuple of them, in elements of the indices
  uint updates_offset;  // elements
  uint update_rank;     // axes of the updates that have no place in the output, at most 8
  uint update_extents[8];
  uint update_strides[8];
  // Through the output: tensor 0 the input, 1 the indices and 2 the updates, but for the axes above. And through all
  // updates of keys: tensor 0 the indices, 1 the key for place 0, 2 the update's number among those of the key.
  WalkParameters walks[2];
};

// Numbers that both sides know.
#define CLEARS 0
#define FINDS 1
#define MOVES 2

// The specialization constants of scatter.hlsl.
#define SCATTER_SPECIALIZATION(VALUE) \
  VALUE(0, ELEMENT_SIZE) /* bytes: 1, 2 or 4 */ \
  VALUE(1, INDEX_TYPE) \
  VALUE(2, LARGE_INDEX) \
  VALUE(3, HAS_RUNS)     /* elements of a row have one key and stand side by side in the input and the updates */ \
  VALUE(4, HAS_ONE)      /* update of a key */
