// For element_wise.hlsl and lib/gpu/kernels/element_wise.cpp: the same words in HLSL and C++.
struct ElementWiseParameters {
  uint elements;     // of the output
  uint rank;         // at most 8
  uint extents[8];   // outermost first
  uint strides[64];  // of input k along axis a at 8 k + a; in elements
  float reals[4];    // parameters as numbers
  uint integers[8];  // and as integers of 64 bits, low words first
  float constants[8];  // inputs that are one number
  float scale;       // of the first input
  float bias;
};

// Numbers that both sides know.
#define IS_REPEATED 32
#define IS_STRIDED 64
#define IS_VECTOR 128  // of inputs 0 to 2: its elements stand as those of the output
#define LAYOUT_ANYHOW 0
#define LAYOUT_ROW 1
#define LAYOUT_LINE 2

// The specialization constants of element_wise.hlsl.
#define ELEMENT_WISE_SPECIALIZATION(VALUE) \
  VALUE(0, EXPRESSION_NUMBER) /* in its group */ \
  VALUE(1, NUMBER_CLASS)      /* enum NumberClass */ \
  VALUE(2, STORE_MODE)        /* enum StoreMode */ \
  VALUE(3, OUTPUT_TYPE) \
  VALUE(4, LAYOUT) \
  VALUE(5, IS_SCALED)         /* the first input */ \
  VALUE(6, INPUT_COUNT) \
  /* The types of inputs; 0 for a constant. With IS_REPEATED, the innermost stride is 0; with IS_STRIDED, more than 1. */ \
  VALUE(7, TYPE_0) \
  VALUE(8, TYPE_1) \
  VALUE(9, TYPE_2) \
  VALUE(10, TYPE_3) \
  VALUE(11, TYPE_4) \
  VALUE(12, TYPE_5) \
  VALUE(13, TYPE_6) \
  VALUE(14, TYPE_7)
