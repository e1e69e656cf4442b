// Convolutions of single channels (depthwise ones) of floats with small filters: ProductKernel
// (lib/ops/kernels/product.hpp) with a depth of 1, by walking down (window_walk.hlsli). Input 1 is the filter, 2 the
// tensor, and 3 the bias. Windows are those of the last two axes; column_tiles counts blocks of columns, row_tiles blocks
// of rows, and part_length is the rows of a block. A plane of outputs is a batch and a row of the product.
#include "parameters/product.hlsli"
#define PARAMETERS ProductParameters
#define LOADS_VECTORS
#define STORES_WORDS
#define WHOLE_GROUPS
#include "elements.hlsli"

#define WEIGHTED
#define NEUTRAL 0.0f
#define FILTER_TYPE OPERATION  // bits 0 to 3; the type of the bias stands above, 0 for none

static uint last_vector;

// Vectors outside of the input are never used, but they are loaded.
uint4 load_words(uint at, uint count) {
  if (count == 4) return load_vector(2, min(at / 4, last_vector));
  const uint last = 4 * last_vector + 3;
  if (count == 2) return uint4(load_word(2, min(at, last - 1)), load_word(2, min(at + 1, last)), 0, 0);
  return uint4(load_word(2, min(at, last)), 0, 0, 0);
}

float value_of(float element) { return element; }
#include "window_walk.hlsli"

// In the parameters: the inputs, and the axes of windows.
#define LEFT 0
#define RIGHT 1
#define ADDED 6
#define ROWS_AXIS 1
#define COLUMNS_AXIS 2

static float added;

uint batch_offset(uint input, uint batch) {
  uint offset = parameters[0].offsets[input];
  const uint rank = parameters[0].batch_rank;
  [loop]
  for (uint step = 0; step < rank; ++step) {
    const uint a = rank - 1 - step;
    const uint next = batch / parameters[0].batch_extents[a];
    offset += (batch - next * parameters[0].batch_extents[a]) * parameters[0].batch_strides[8 * input + a];
    batch = next;
  }
  return offset;
}

int plane_begin(uint plane) { return int(batch_offset(RIGHT, plane / parameters[0].rows)); }

float result_of(float joined, int column, uint row, uint y) {
  return joined * parameters[0].factor + added;
}

void load_filter(uint plane) {
  uint filter_type = OPERATION & 15;
  uint added_type = OPERATION >> 4;
  const uint batch = plane / parameters[0].rows;
  const uint row = plane - batch * parameters[0].rows;
  const uint left = batch_offset(LEFT, batch) + row * parameters[0].row_strides[LEFT];
  WALK_LOOP
  for (uint y = 0; y < HEIGHT; ++y) {
    WALK_LOOP
    for (uint x = 0; x < WIDTH; ++x)
      weights[y * WIDTH + x] = load_real(1, left + y * parameters[0].left_strides[ROWS_AXIS] + x * parameters[0].left_strides[COLUMNS_AXIS], filter_type);
  }
  added = 0.0f;
  if (added_type != 0)
    added = parameters[0].added_factor * load_real(3, batch_offset(ADDED, batch) + row * parameters[0].row_strides[ADDED], added_type);
}

void run(uint thread, uint lane) {
  shape.input_width = int(parameters[0].input_extents[COLUMNS_AXIS]);
  shape.input_height = int(parameters[0].input_extents[ROWS_AXIS]);
  shape.row_stride = int(parameters[0].input_strides[ROWS_AXIS]);
  shape.output_width = parameters[0].output_extents[COLUMNS_AXIS];
  shape.output_height = parameters[0].output_extents[ROWS_AXIS];
  shape.start_x = -parameters[0].window_offsets[COLUMNS_AXIS];
  shape.start_y = -parameters[0].window_offsets[ROWS_AXIS];
  shape.column_blocks = parameters[0].column_tiles;
  shape.row_blocks = parameters[0].row_tiles;
  shape.block_rows = parameters[0].part_length;
  last_vector = parameters[0].last_word / 4;
  load_filter(walk_number(thread) / shape.column_blocks / shape.row_blocks);
  walk_down(thread, lane);
}
