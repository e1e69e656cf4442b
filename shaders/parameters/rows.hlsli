// For rows.hlsl and lib/gpu/kernels/rows.cpp: the same words in HLSL and C++.
struct RowsParameters {
  uint rows;         // where they are in parts
  uint count;        // of a row's vectors; of its elements, where a vector has some of several rows
  uint stride;       // from one of these to the next, in vectors
  uint parts;        // of a row
  uint part_count;   // of these in a part; the last one may have fewer
  float part_length;  // elements of a part
  float last_length;
  float down;  // a power of two that keeps sums in range
  float up;    // its reciprocal
  float scaled_length_high;  // the elements of a row, times `down`, as a sum of two numbers
  float scaled_length_low;
  float epsilon;
  float scale;  // without a tensor
  float bias;
  uint rank;         // of what follows, at most 8
  uint extents[8];   // outermost first
  uint strides[16];  // of the scale along axis a at a, of the bias at 8 + a; in elements
  float reals[4];    // of the activation
  float input_scale;
  float input_bias;
};

// Numbers that both sides know.
#define IS_CONSTANT 0
#define IS_REPEATED 1
#define IS_VECTOR 2
#define IS_STRIDED 3
#define WHOLE_ROWS 0
#define PARTS 1
#define JOIN 2
#define OUTPUTS 3

// The specialization constants of rows.hlsl.
#define ROWS_SPECIALIZATION(VALUE) \
  VALUE(0, OPERATION) \
  VALUE(1, TYPE)       /* of elements: FLOAT32 or FLOAT16 */ \
  VALUE(2, VECTORS)    /* of a lane, at most */ \
  VALUE(3, SCALE)      /* the layout of the scale along a vector of elements */ \
  VALUE(4, BIAS) \
  VALUE(5, ACTIVATION) /* its number in its group of expressions.def, from 1 on; 0 for none */ \
  VALUE(6, IN_PARTS)
