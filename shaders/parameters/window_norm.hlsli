// For window_norm*.hlsl, norm_walk.hlsl and lib/gpu/kernels/window_norms.cpp: the same words in HLSL and C++. Axes are depth, height and
// width; of each: x the extent of the input, y that of the output, z the stride of the input, w the window.
#define SLACK_BYTES 256  // in front of the first element of the input

// The specialization constants of window_norm.hlsl and window_norm_parts.hlsl.
#define WINDOW_NORM_SPECIALIZATION(VALUE) \
  VALUE(0, P) /* 1, 2, 3, or 0 for the exponent in the constants */

struct WindowNormConstants {
  uint elements;  // of the output
  uint exponent;
  uint channels;
  uint batch_stride, channel_stride;
  // Of norm_walk.hlsl: blocks of columns and of rows. Of window_norm_parts.hlsl: the columns and rows of a part.
  uint column_blocks, row_blocks;
  uint width_dilation;
  uint4 depth, height, width;
  // x, y, z of the windows along the axes; w the dilation along the depth. norm_walk.hlsl, whose windows have no
  // dilations, has the rows of a block there, at most 32.
  uint4 strides;
  uint4 paddings;  // x, y, z in front of the axes; w the dilation along the height
};
