// For pooling_walk.hlsl and lib/gpu/kernels/pooling_walk.cpp: the same words in HLSL and C++.
struct PoolingWalkConstants {
  uint column_blocks, row_blocks;
  uint block_rows;            // the rows of a block
  uint last_vector;           // of the input
  uint input_height, input_width;
  uint row_stride;            // of the input, elements
  uint output_height, output_width;
  uint start_y, start_x;      // padding in front of the input
  uint divisor_y, divisor_x;  // enum Divisor
  uint plane_axes;            // as planes.hlsli has them
  uint unused0, unused1;
  uint4 axes01, axes23, axes45;
};
