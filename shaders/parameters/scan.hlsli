// For scan.hlsl and lib/gpu/kernels/scan.cpp: the same words in HLSL and C++.
struct ScanParameters {
  uint elements;
  uint length;  // of a sequence
  uint stride;  // of its elements in the input
  uint inner;   // sequences that stand beside each other
  uint axes;    // the other ones
  uint extents[8];  // outermost first
  uint strides[8];
  uint levels;
  uint counts[8];  // of level i: the cells of a sequence
  uint begins[8];  // where the level begins in the scratch, in cells
};

// Numbers that both sides know.
#define BLOCK 16
#define BY_BLOCKS 0
#define BY_ROWS 1
#define BY_COLUMNS 2
#define BY_COLUMNS_ALONE 3
#define TOTALS_OF_ELEMENTS 0
#define TOTALS_OF_CELLS 1
#define PREFIXES 2
#define OUTPUTS 3

// The specialization constants of scan.hlsl.
#define SCAN_SPECIALIZATION(VALUE) \
  VALUE(0, TYPE) \
  VALUE(1, IS_PRODUCT) \
  VALUE(2, FROM_END) \
  VALUE(3, IS_EXCLUSIVE) \
  VALUE(4, WAY) \
  VALUE(5, VECTORS)      /* of a lane at a time */
