// For reduce.hlsl and lib/gpu/kernels/reduce.cpp: the same words in HLSL and C++. Strides of operand k along axis a
// stand at 8 k + a; in elements.
struct ReduceParameters {
  uint outputs;
  uint length;       // elements of a row
  uint parts;        // of a row
  uint part_length;  // elements of a part; the last one may have fewer
  uint kept;         // axes
  uint kept_extents[8];  // outermost first
  uint kept_strides[24];
  uint outer;  // reduced axes outside the innermost
  uint outer_extents[8];
  uint outer_strides[24];
  uint inner_extent;  // of the innermost reduced axis
  uint inner_strides[3];
  uint step_outer;  // what `lanes` elements further on in a row is: so many rows of the innermost axis
  uint step_inner;  // and so many elements
  float length_high;  // the length as a sum of two numbers
  float length_low;
};

// Numbers that both sides know.
#define IS_POSITION 32  // of operand 0: its offsets are the values
#define IS_FIXED 64     // the same element in all of a row
#define READS_CELLS 1
#define WRITES_OUTPUTS 2
#define ALONG_ROWS 1      // which lie at a stretch
#define ALONG_COLUMNS 2   // a vector has an element of each of some rows

// The specialization constants of reduce.hlsl.
#define REDUCE_SPECIALIZATION(VALUE) \
  VALUE(0, REDUCTION)   /* enum ReduceFunction */ \
  VALUE(1, TERM)        /* enum ReduceTerm */ \
  VALUE(2, FINISH)      /* enum ReduceFinish */ \
  VALUE(3, TAKES_LAST) \
  VALUE(4, OUTPUT_TYPE) \
  VALUE(5, OPERANDS) \
  VALUE(6, OUTER_AXES)  /* reduced ones outside the innermost */ \
  /* The types of operands. */ \
  VALUE(7, TYPE_0) \
  VALUE(8, TYPE_1) \
  VALUE(9, TYPE_2) \
  VALUE(10, BY_VECTORS) /* of floats */
