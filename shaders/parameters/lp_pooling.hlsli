// For lp_pooling*.hlsl and lib/gpu/kernels/lp_pooling.cpp: the same words in HLSL and C++. Axes are depth, height and
// width; of each: x the extent of the input, y that of the output, z the stride of the input, w the window.
struct LpPoolingConstants {
  uint elements;  // of the output
  int offset;     // of the first element of the input
  uint exponent;
  uint channels;
  uint batch_stride, channel_stride;
  // Of lp_pooling_walk.hlsl: blocks of columns and of rows, and the rows of a block, at most 32. Of lp_pooling_parts.hlsl:
  // the parts of a window, and the rows and columns of a part.
  uint column_blocks, row_blocks;
  uint4 depth, height, width;
  uint4 strides;   // x, y, z of the windows along the axes; w the rows of a block, or the parts of a window
  uint4 paddings;  // x, y, z in front of the axes; w unused
};
