// Norms of windows (lib/ops/kernels/window.hpp) for small windows over packed rows. Sums near the limits of float32
// are rare and slow: a thread notes them, and takes them again when it has walked.
//
#include "parameters/window_norm.hlsli"
#define CONSTANTS WindowNormConstants
#define LOADS_VECTORS
#define LOADS_WORDS
#define STORES_WORDS
#define WHOLE_GROUPS
#include "bindings.hlsli"

#define P OPERATION
#define LEAST_SUM (IS_FLOAT16 != 0 ? 1e-15 : 1e-24)
#define DILATIONS int3(1, 1, 1)

float value_of(float element);
uint half_bits(float x);
#define JOINED(a, b) ((a) + (b))
#define NEUTRAL 0.0
#include "window_walk.hlsli"
#include "lp_norm.hlsli"

float value_of(float element) { return raised(abs(element)); }

int plane_begin(uint plane) {
  const uint image = plane / constants.depth.y;
  const uint batch = image / constants.channels;
  return int(INPUT_OFFSET + batch * constants.batch_stride + (image - batch * constants.channels) * constants.channel_stride +
             (plane - image * constants.depth.y) * constants.strides.x * constants.depth.z);
}

// Sums of the first three powers of halves are never near the limits.
#define HAS_LIMITS (IS_FLOAT16 == 0 || P == 0)

// Bit y tells that an output of the thread's row y is near the limits.
static uint limits;

bool is_limit(float sum) { return !(sum >= LEAST_SUM && sum <= 1e37); }

// The root of a sum that is not near the limits.
float quick_root(float sum) {
  if (P == 2) {
    const float inverse = rsqrt(sum);
    const float y = sum * inverse;
    return IS_FLOAT16 != 0 ? y : mad(mad(-y, y, sum), 0.5 * inverse, y);
  }
  return root(sum);
}

float result_of(float joined, int column, uint row, uint y) {
  if (HAS_LIMITS) {
    limits |= is_limit(joined) ? 1u << y : 0;
    return quick_root(joined);
  }
  // The bounds are for 0 and infinity, which the product keeps.
  if (P == 2) return joined * rsqrt(clamp(joined, 1e-30, 1e30));
  return root(joined);
}

// Takes one output again, with its elements scaled, if the row has such a column.
void store_scaled(uint row, uint column) {
  if (column >= constants.width.y) return;
  const float norm = scaled_norm(window_at(row, int(column)));
  const uint element = row * constants.width.y + column;
  if (IS_FLOAT16 == 0) {
    output_words[element] = asuint(norm);
  } else {
    const uint shift = (element & 1) * 16;
    store_half(element / 2, half_bits(norm) << shift, 0xFFFFu << shift);
  }
}

// A thread also stores results of the one before.
void share_limits() {
#ifndef ALIGNED
  limits |= exchanged(uint4(limits, 0, 0, 0), shape.block_rows & 1).x;
  if (walk.rows < 32) limits &= (1u << walk.rows) - 1;
#endif
}

void finish_limits() {
  [loop]
  while (limits != 0) {
    const uint y = firstbitlow(limits);
    limits &= limits - 1;
    const uint row = walk.first_row + y;
    const uint first = first_stored(row);
    [loop]
    for (uint n = 0; n < COLUMNS; ++n) store_scaled(row, first + n);
  }
}

void run(uint thread, uint lane) {
  shape.input_width = int(constants.width.x);
  shape.input_height = int(constants.height.x);
  shape.row_stride = int(constants.height.z);
  shape.output_width = constants.width.y;
  shape.output_height = constants.height.y;
  shape.start_x = int(constants.paddings.z);
  shape.start_y = int(constants.paddings.y);
  shape.column_blocks = constants.column_blocks;
  shape.row_blocks = constants.row_blocks;
  shape.block_rows = constants.strides.w;
  limits = 0;
  walk_down(thread, lane);
  if (HAS_LIMITS) {
    share_limits();
    finish_limits();
  }
}
