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
