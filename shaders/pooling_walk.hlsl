// MAX_POOLING and AVERAGE_POOLING of small windows over packed rows of floats: WindowKernel (lib/ops/kernels/window.hpp)
// by walking down. Input 1 is the tensor. Axes are those of window.hlsl: the last two have windows, the others are copied.
// at_column_parts counts blocks of columns, at_parts blocks of rows, at_part_rows the rows of a block.
#include "parameters/window.hlsli"
#define PARAMETERS uint
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

static uint last_vector;

// Vectors outside of the input are never used, but they are loaded.
uint4 load_words(uint at, uint count) {
  if (count == 4) return load_vector(1, min(at / 4, last_vector));
  const uint last = 4 * last_vector + 3;
  if (count == 2) return uint4(load_word(1, min(at, last - 1)), load_word(1, min(at + 1, last)), 0, 0);
  return uint4(load_word(1, min(at, last)), 0, 0, 0);
}

#include "window_walk.hlsli"

// NaN is never a maximum.
float value_of(float element) { return OPERATION == MAXIMUM ? (element > -infinity() ? element : -infinity()) : element; }
float joined_of(float a, float b) {
  if (OPERATION == MAXIMUM) return b > a ? b : a;
  return a + b;
}

uint rows_axis() { return at_windows + (last_windows + 1) * window_words; }
uint columns_axis() { return at_windows + (last_windows + 2) * window_words; }

int plane_begin(uint plane) {
  const uint at = plane * shape.output_height * shape.output_width;
  uint offset = 0;
  const uint copied = parameters[at_copied_axes];
  [loop]
  for (uint i = 0; i < copied; ++i) {
    const uint axis = at_copied + i * copied_words;
    offset += at / parameters[axis + axis_output_stride] % parameters[axis + axis_output_extent] *
              parameters[axis + axis_input_stride];
  }
  return int(offset);
}

// How many elements the window that begins at `begin`, counted with the padding, has from `first` to `end`.
int elements_within(int begin, int size, int first, int end) { return max(min(begin + size, end) - max(begin, first), 0); }

// What the sum of a window is divided by along one axis; for a maximum, how many elements it has.
float divisor_of(uint axis, int begin, int size) {
  const uint divisor = parameters[axis + axis_divisor];
  if (OPERATION != MAXIMUM && divisor == DIVISOR_NONE) return 1.0f;
  if (OPERATION == MAXIMUM || divisor == DIVISOR_INSIDE)
    return float(elements_within(begin, size, int(parameters[axis + axis_start]), int(parameters[axis + axis_end])));
  return float(size);
}

static bool is_divided;

float result_of(float joined, int column, uint row, uint y) {
  if (IS_PADDED == 0) {
    return OPERATION == MAXIMUM || !is_divided ? joined : joined / float(WIDTH * HEIGHT);
  }
  const float columns = divisor_of(columns_axis(), column * int(STRIDE_X), int(WIDTH));
  const float rows = divisor_of(rows_axis(), int(row % shape.output_height * STRIDE_Y), int(HEIGHT));
  if (OPERATION == MAXIMUM) return rows * columns == 0.0f ? asfloat(0xFF7FFFFFu) : joined;
  return joined / (rows * columns);
}

void run(uint thread, uint lane) {
  const uint rows = rows_axis(), columns = columns_axis();
  shape.input_width = int(parameters[columns + axis_end] - parameters[columns + axis_start]);
  shape.input_height = int(parameters[rows + axis_end] - parameters[rows + axis_start]);
  shape.row_stride = int(parameters[rows + axis_input_stride]);
  shape.output_width = parameters[columns + axis_output_extent];
  shape.output_height = parameters[rows + axis_output_extent];
  shape.start_x = int(parameters[columns + axis_start]);
  shape.start_y = int(parameters[rows + axis_start]);
  shape.column_blocks = parameters[at_column_parts];
  shape.row_blocks = parameters[at_parts];
  shape.block_rows = parameters[at_part_rows];
  last_vector = parameters[at_part_columns];
  is_divided = parameters[columns + axis_divisor] != DIVISOR_NONE;
  walk_down(thread, lane);
}
