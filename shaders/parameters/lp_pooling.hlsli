// For lp_pooling*.hlsl and lib/gpu/kernels/lp_pooling.cpp: the same words in HLSL and C++. Axes are depth, height and
// width; of each: x the extent of the input, y that of the output, z the stride of the input, w the window.
#define SLACK_BYTES 256  // in front of the first element of the input

// The specialization constants of lp_pooling.hlsl and lp_pooling_parts.hlsl.
#define LP_POOLING_SPECIALIZATION(VALUE) \
  VALUE(0, P) /* 1, 2, 3, or 0 for the exponent in the constants */

struct LpPoolingConstants {
  uint elements;  // of the output
  uint exponent;
  uint channels;
  uint batch_stride, channel_stride;
  // Of lp_pooling_walk.hlsl: blocks of columns and of rows. Of lp_pooling_parts.hlsl: the columns and rows of a part.
  uint column_blocks, row_blocks;
  uint width_dilation;
  uint4 depth, height, width;
  // x, y, z of the windows along the axes; w the dilation along the depth. lp_pooling_walk.hlsl, whose windows have no
  // dilations, has the rows of a block there, at most 32.
  uint4 strides;
  uint4 paddings;  // x, y, z in front of the axes; w the dilation along the height
};
