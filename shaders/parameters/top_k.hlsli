// For top_k.hlsl and lib/gpu/kernels/top_k.cpp: the same words in HLSL and C++. Entries of level i of a sequence are
// its candidates; level 0 is the input.
struct TopKParameters {
  uint elements;  // of an output
  uint k;
  uint sequences;
  uint length;  // of a sequence
  uint stride;  // of its elements in the input
  uint inner;   // sequences that stand beside each other
  uint axes;    // the other ones
  uint extents[8];  // outermost first
  uint strides[8];
  uint counts[33];   // of level i: the entries of a sequence
  uint spans[33];    // and the places that they are sorted on: a power of two, or whole blocks
  uint begins[33];   // where the level begins in the scratch, in entries
  uint kept;         // of a block
  uint result;       // the level that is sorted
};

// Numbers that both sides know.
#define BLOCK 1024
#define FEW_MOST 16
#define SORT 0      // blocks of a level, which is BASE; the rest of STEP is the logarithm of a sorted row's length
#define EXCHANGE 1  // entries; the rest of STEP is the logarithm of a row's length, BASE that of the distance
#define MERGE 2     // the rest of such an exchange, in blocks; the rest of STEP as before
#define VALUES 3    // the outputs
#define INDICES 4
#define FEW 5       // as SORT, where keys are words and at most 16 entries are kept

// The specialization constants of top_k.hlsl.
#define TOP_K_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE) \
  VALUE(1, INDEX_TYPE) \
  VALUE(2, IS_DESCENDING) \
  VALUE(3, SELECTS_FEW)   /* in stages FEW, and none of SORT, EXCHANGE and MERGE */
