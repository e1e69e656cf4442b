// MAX_POOLING and AVERAGE_POOLING of small windows over packed rows of floats: WindowKernel (lib/ops/kernels/window.hpp)
// by walking down. Input 1 is the tensor: the last two axes have windows, the others are copied.
#include "parameters/pooling_walk.hlsli"
#define CONSTANTS PoolingWalkConstants
#define LOADS_VECTORS
#define STORES_WORDS
#define WHOLE_GROUPS
#include "elements.hlsli"

// OPERATION
#define MAXIMUM 0
#define SUM 1              // divided by the elements of a whole window or, if any windows are padded, as the axes say
#define DIVISOR_NONE 0     // enum Divisor
#define DIVISOR_INSIDE 1

float value_of(float element);
float joined_of(float a, float b);
#define JOINED(a, b) joined_of(a, b)
#define NEUTRAL (OPERATION == MAXIMUM ? -infinity() : 0.0f)

// Of the constants: each use of those would load them again.
static uint last_vector;
static uint divisor_x, divisor_y;

// Vectors outside of the input are never used, but they are loaded.
uint4 load_words(uint at, uint count) {
  if (count == 4) return load_vector(1, min(at / 4, last_vector));
  const uint last = 4 * last_vector + 3;
  if (count == 2) return uint4(load_word(1, min(at, last - 1)), load_word(1, min(at + 1, last)), 0, 0);
  return uint4(load_word(1, min(at, last)), 0, 0, 0);
}

#include "window_walk.hlsli"
#include "planes.hlsli"

// NaN is never a maximum.
float value_of(float element) { return OPERATION == MAXIMUM ? (element > -infinity() ? element : -infinity()) : element; }
float joined_of(float a, float b) {
  if (OPERATION == MAXIMUM) return b > a ? b : a;
  return a + b;
}

int plane_begin(uint plane) { return int(plane_offset(plane)); }

// How many elements the window that begins at `begin`, counted with the padding, has from `first` to `end`.
int elements_within(int begin, int size, int first, int end) { return max(min(begin + size, end) - max(begin, first), 0); }

// What the sum of a window is divided by along one axis, whose input begins at `start` and has `extent` elements; for a
// maximum, how many elements it has.
float divisor_of(uint divisor, int begin, int size, int start, int extent) {
  if (OPERATION != MAXIMUM && divisor == DIVISOR_NONE) return 1.0f;
  if (OPERATION == MAXIMUM || divisor == DIVISOR_INSIDE)
    return float(elements_within(begin, size, start, start + extent));
  return float(size);
}

float result_of(float joined, int column, uint row, uint y) {
  if (IS_PADDED == 0) {
    return OPERATION == MAXIMUM || divisor_x == DIVISOR_NONE ? joined : joined / float(WIDTH * HEIGHT);
  }
  const int begin_x = column * int(STRIDE_X), begin_y = int(row % shape.output_height * STRIDE_Y);
  const float columns = divisor_of(divisor_x, begin_x, int(WIDTH), shape.start_x, shape.input_width);
  const float rows = divisor_of(divisor_y, begin_y, int(HEIGHT), shape.start_y, shape.input_height);
  if (OPERATION == MAXIMUM) return rows * columns == 0.0f ? asfloat(0xFF7FFFFFu) : joined;
  return joined / (rows * columns);
}

void run(uint thread, uint lane) {
  shape.input_width = int(constants.input_width);
  shape.input_height = int(constants.input_height);
  shape.row_stride = int(constants.row_stride);
  shape.output_width = constants.output_width;
  shape.output_height = constants.output_height;
  shape.start_x = int(constants.start_x);
  shape.start_y = int(constants.start_y);
  shape.column_blocks = constants.column_blocks;
  shape.row_blocks = constants.row_blocks;
  shape.block_rows = constants.block_rows;
  last_vector = constants.last_vector;
  divisor_x = constants.divisor_x;
  divisor_y = constants.divisor_y;
  walk_down(thread, lane);
}
