// The parameters of shaders/product.hlsl. Inputs stand in the order of ProductKernel's fields, each at the same place
// whether the others are there or not; windows are those of three axes, the last of which is the innermost one.
struct ProductParameters {
  uint rows, columns, batches;
  uint sum_length;
  uint part_length;     // of the part of a sum that a group computes
  uint parts;           // of a sum
  uint row_tiles, column_tiles;
  uint batch_rank;
  uint batch_extents[8];
  uint offsets[9];
  uint row_strides[9];
  uint column_strides[9];
  uint batch_strides[72];  // 8 for each input
  uint left_depth_stride, right_depth_stride;
  float factor, added_factor;
  uint output_extents[3];
  uint computed[3];
  uint taps[3];
  uint left_strides[3];
  uint input_extents[3];
  uint input_strides[3];
  int steps[3];
  int tap_steps[3];
  int window_offsets[3];
  int divisors[3];
  uint last_word;  // of the right matrix: the last that holds an element
};

// The specialization constants of product.hlsl.
#define PRODUCT_SPECIALIZATION(VALUE) \
  VALUE(0, HAS_WINDOWS) \
  VALUE(1, HAS_DIVISORS)           /* windows have some */ \
  VALUE(2, HAS_LEFT_OUT)           /* some columns are not computed */ \
  VALUE(3, IS_ADDED_SCALED) \
  VALUE(4, IS_LEFT_READ_BY_ROW)    /* neighboring threads read neighboring rows, rather than one row */ \
  VALUE(5, IS_RIGHT_READ_BY_DEPTH) /* neighboring threads read one column, rather than neighboring columns */ \
  VALUE(6, IS_DIRECT) \
  VALUE(7, IS_INTEGER)             /* nothing follows the sums */ \
  VALUE(8, OUTPUT_TYPE) \
  /* Of the inputs: their types, and of the optional ones the numbers of their buffers, 0 for none. */ \
  VALUE(9, TYPE_LEFT) \
  VALUE(10, TYPE_RIGHT) \
  VALUE(11, TYPE_LEFT_ZERO) \
  VALUE(12, TYPE_RIGHT_ZERO) \
  VALUE(13, TYPE_LEFT_SCALE) \
  VALUE(14, TYPE_RIGHT_SCALE) \
  VALUE(15, TYPE_ADDED) \
  VALUE(16, TYPE_OUTPUT_SCALE) \
  VALUE(17, TYPE_OUTPUT_ZERO) \
  VALUE(18, BUFFER_LEFT_ZERO) \
  VALUE(19, BUFFER_RIGHT_ZERO) \
  VALUE(20, BUFFER_LEFT_SCALE) \
  VALUE(21, BUFFER_RIGHT_SCALE) \
  VALUE(22, BUFFER_ADDED) \
  VALUE(23, BUFFER_OUTPUT_SCALE) \
  VALUE(24, BUFFER_OUTPUT_ZERO) \
  VALUE(25, HAS_REST)              /* the last part of a sum is shorter than the others, or ends within a slice */

// The specialization constants of product_matrices.comp, which declares them itself, because GLSL wants the size of a group
// in a way of its own, and a variant of fixed tiles leaves most of them out.
#define PRODUCT_MATRICES_SPECIALIZATION(VALUE) \
  VALUE(0, IS_LEFT_READ_BY_ROW) \
  VALUE(1, IS_RIGHT_READ_BY_DEPTH) \
  VALUE(2, IS_LEFT_ALIGNED) \
  VALUE(3, IS_RIGHT_ALIGNED) \
  VALUE(4, IS_DIRECT) \
  VALUE(5, OUTPUT_TYPE) \
  VALUE(6, TYPE_ADDED) \
  VALUE(7, IS_ADDED_SCALED) \
  VALUE(8, WINDOW_STEP) \
  VALUE(9, ROWS) \
  VALUE(10, COLUMNS) \
  VALUE(11, DEPTH) \
  VALUE(12, SUBGROUP_ROWS) \
  VALUE(13, SUBGROUP_COLUMNS) \
  VALUE(14, BUFFERS) \
  VALUE(15, SHARED_VECTORS) \
  VALUE(16, GROUP_SIZE) \
  VALUE(17, HAS_REST)
