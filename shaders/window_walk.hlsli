// Windows over two axes by walking down them, for norm_walk.hlsl, pooling_walk.hlsl and convolution_walk.hlsl. A
// thread owns a few columns of outputs. It joins what each row of the input has under its windows once, and keeps that in
// a ring for as long as windows reach the row. So a window of w x w costs about 2 w operations, not w^2.
// lib/gpu/kernels/window_walk.hpp plans it.
//
// With WEIGHTED, elements of a window are multiplied by `weights`, row by row, before they are added. The ring then holds
// the sums of the windows that reach a row.
//
// walk_stores.hlsli says how results are stored.
//
// A kernel defines WHOLE_GROUPS, and in front of this file
//   JOINED(a, b): two numbers as one, of which a comes first; and NEUTRAL, which changes nothing. With WEIGHTED NEUTRAL
//   alone, which takes the place of padding;
//   float value_of(float element);
//   uint4 load_words(uint at, uint count), store_words(uint at, uint count, uint4 words), and output_words;
// and behind it
//   int plane_begin(uint plane): the element where a plane of the input begins, and
//   float result_of(float joined, int column, uint row, uint y): of `column` of `row` of all planes, the y-th of the
//   thread. It is called for columns behind the row, too.

#include "parameters/window_walk.hlsli"

WINDOW_WALK_SPECIALIZATION(SPECIALIZED)

// Rows after which the ring is as it was. A copy of a row's code for each of them pays only where weights stand between
// the rows; Direct3D's compiler takes too long for it. Elsewhere the ring is moved on by one row each time.
#if defined(DMLOP_VULKAN) && defined(WEIGHTED)
#define PERIOD HEIGHT
#else
#define PERIOD 1
#endif
#ifdef DMLOP_VULKAN
#define WALK_LOOP [unroll]
#else
#define WALK_LOOP [loop]
#endif
#define COLUMNS_MOST 8
#define HEIGHT_MOST 7
// Elements of a row, and the words that hold them.
#define REACH ((COLUMNS - 1) * STRIDE_X + WIDTH)
#define PER_WORD (1u << IS_FLOAT16)
#define WORDS (IS_FLOAT16 == 0 ? SKIPPED + REACH : (SKIPPED + REACH + IS_SHIFTED + 1) / 2)
#define WORDS_MOST 28
#define STORED (COLUMNS / PER_WORD)  // words of a vector
#define STORED_MOST 4
#define AHEAD_MOST 2

static uint words[WORDS_MOST];
static uint next_words[AHEAD_MOST * WORDS_MOST];
static float values[32];
static float ring[COLUMNS_MOST * HEIGHT_MOST];
#ifdef WEIGHTED
static float weights[49];
#endif

// What is the same for all threads.
struct Shape {
  int input_width;
  int input_height;
  int row_stride;  // elements of the input
  uint output_width;
  uint output_height;
  int start_x;  // padding
  int start_y;
  uint column_blocks;
  uint row_blocks;
  uint block_rows;  // of outputs
};
static Shape shape;

// Where a thread stands.
struct Walk {
  int begin;          // element of row 0 of the input that the thread's first column needs first
  int column;         // of the input: that of this element
  int row;            // of the input: the next one
  int last_row;       // that the thread needs
  bool is_inner;      // no element lies outside of a row
  uint first_row;     // of the outputs of all planes
  uint first_column;  // of the outputs
  uint rows;          // of outputs that it stores
  uint lane;
};
static Walk walk;

int plane_begin(uint plane);
float result_of(float joined, int column, uint row, uint y);

#include "walk_stores.hlsli"

#ifndef WEIGHTED
// a(0) to a(count - 1), 1 to 7 numbers, joined in pairs.
#define JOIN_PAIRS(result, count, a)                \
  result = a(0);                                    \
  if (count > 1) result = JOINED(result, a(1));     \
  if (count > 2) {                                  \
    float pair_ = a(2);                             \
    if (count > 3) pair_ = JOINED(pair_, a(3));     \
    result = JOINED(result, pair_);                 \
  }                                                 \
  if (count > 4) {                                  \
    float four_ = a(4);                             \
    if (count > 5) four_ = JOINED(four_, a(5));     \
    if (count > 6) four_ = JOINED(four_, a(6));     \
    result = JOINED(result, four_);                 \
  }
#endif

// Loads what the thread needs of a row of the input, as the kth of those to come.
void load_row(int row, uint k) {
  row = min(row, walk.last_row);
  if (IS_PADDED != 0) row = clamp(row, 0, shape.input_height - 1);
  const int element = walk.begin - int(SKIPPED) + row * shape.row_stride;
  // A shift of signed numbers: in front of the first row they may be negative.
  const uint at = IS_FLOAT16 == 0 ? uint(element) : uint(element >> 1);
  [unroll]
  for (uint i = 0; i < WORDS; i += LOADED) {
    // No more at the end than are needed.
    const uint count = LOADED == 4 && WORDS - i < 3 ? (WORDS - i) : LOADED == 2 && WORDS - i < 2 ? 1 : LOADED;
    const uint4 loaded = load_words(at + i, count);
    const uint to = k * WORDS_MOST + i;
    next_words[to] = loaded.x;
    if (count > 1) next_words[to + 1] = loaded.y;
    if (count > 2) next_words[to + 2] = loaded.z;
    if (count > 2) next_words[to + 3] = loaded.w;
  }
}

// Takes the next row and loads the one that comes AHEAD rows behind it. Direct3D's compiler takes too long for that.
void take_row() {
#ifndef DMLOP_VULKAN
  load_row(walk.row, 0);
#endif
  [unroll]
  for (uint w = 0; w < WORDS; ++w) {
    words[w] = next_words[w];
#ifdef DMLOP_VULKAN
    [unroll]
    for (uint k = 1; k < AHEAD; ++k) next_words[(k - 1) * WORDS_MOST + w] = next_words[k * WORDS_MOST + w];
#endif
  }
#ifdef DMLOP_VULKAN
  load_row(walk.row + int(AHEAD), AHEAD - 1);
#endif
  ++walk.row;
}

// The values of the words' elements, which are those of a row; NEUTRAL outside of it, or of the input.
void set_values(int row) {
  const bool is_shifted = IS_SHIFTED != 0 && ((walk.begin + clamp(row, 0, shape.input_height - 1) * shape.row_stride) & 1) != 0;
  [unroll]
  for (uint i = 0; i < REACH; ++i) {
    const uint e = i + SKIPPED;
    float x = asfloat(words[IS_FLOAT16 == 0 ? e : 0]);
    if (IS_FLOAT16 != 0) {
      const bool is_high = (e & 1) != 0;
      uint bits = is_high ? words[e / 2] >> 16 : words[e / 2];
      if (IS_SHIFTED != 0) bits = is_shifted ? (is_high ? words[(e + 1) / 2] : words[e / 2] >> 16) : bits;
      x = f16tof32(bits & 0xFFFF);
    }
    values[i] = value_of(x);
  }
  if (IS_PADDED != 0) {
    const bool is_row = uint(row) < uint(shape.input_height);
    if (!walk.is_inner || !is_row) {
      [unroll]
      for (uint k = 0; k < REACH; ++k) {
        if (!is_row || uint(walk.column + int(k)) >= uint(shape.input_width)) values[k] = NEUTRAL;
      }
    }
  }
}

#ifdef WEIGHTED
// Adds the row to the sums of all windows that reach it. The sum of the window whose last row this is stands in place
// `slot` of the ring, that of the window which ends with the next row in the next place, and so on.
void join_row(uint slot) {
  WALK_LOOP
  for (uint y = 0; y < HEIGHT; ++y) {
    const uint at = (slot + HEIGHT - 1 - y) % HEIGHT * COLUMNS_MOST;
    WALK_LOOP
    for (uint c = 0; c < COLUMNS; ++c) {
      float total = values[c * STRIDE_X] * weights[y * WIDTH];
      if (y > 0) total += ring[at + c];
      WALK_LOOP
      for (uint x = 1; x < WIDTH; ++x) total += values[c * STRIDE_X + x] * weights[y * WIDTH + x];
      ring[at + c] = total;
    }
  }
}
#else
// Joins the row under each window and keeps that in place `slot` of the ring.
void join_row(uint slot) {
  [unroll]
  for (uint c = 0; c < COLUMNS; c += 2) {
    if (STRIDE_X == 1 && WIDTH > 1 && c + 1 < COLUMNS) {
      // Windows side by side share all but one column.
      float middle;
#define MIDDLE(k) values[c + 1 + (k)]
      JOIN_PAIRS(middle, WIDTH - 1, MIDDLE)
      ring[slot * COLUMNS_MOST + c] = JOINED(values[c], middle);
      ring[slot * COLUMNS_MOST + c + 1] = JOINED(middle, values[c + WIDTH]);
    } else {
      float joined;
#define FIRST(k) values[c * STRIDE_X + (k)]
      JOIN_PAIRS(joined, WIDTH, FIRST)
      ring[slot * COLUMNS_MOST + c] = joined;
      if (c + 1 < COLUMNS) {
#define SECOND(k) values[(c + 1) * STRIDE_X + (k)]
        JOIN_PAIRS(joined, WIDTH, SECOND)
        ring[slot * COLUMNS_MOST + c + 1] = joined;
      }
    }
  }
}
#endif

void move_ring() {
  [unroll]
  for (uint c = 0; c < COLUMNS; ++c) {
    const float first = ring[c];
    [unroll]
    for (uint k = 0; k + 1 < HEIGHT; ++k) ring[k * COLUMNS_MOST + c] = ring[(k + 1) * COLUMNS_MOST + c];
    ring[(HEIGHT - 1) * COLUMNS_MOST + c] = first;
  }
}

// The thread's row y of outputs, whose last row of the input stands in place `slot` of the ring.
void finish_row(uint y, uint slot) {
  const uint row = walk.first_row + y;
  uint packed[STORED_MOST] = {0, 0, 0, 0};
  [unroll]
  for (uint c = 0; c < COLUMNS; ++c) {
    float joined;
#ifdef WEIGHTED
    joined = ring[slot * COLUMNS_MOST + c];
#else
#define IN_RING(k) ring[(slot + 1 + (k)) % HEIGHT * COLUMNS_MOST + c]
    JOIN_PAIRS(joined, HEIGHT, IN_RING)
#endif
    const float result = result_of(joined, int(walk.first_column + c), row, y);
    if (IS_FLOAT16 == 0) {
      packed[c] = asuint(result);
    } else {
      packed[c / 2] |= half_bits(result) << (c % 2 * 16);
    }
  }
  store_results(row, y, uint4(packed[0], packed[1], packed[2], packed[3]));
}

void begin_walk(uint thread, uint lane) {
  const uint number = walk_number(thread);
  const uint rest = number / shape.column_blocks;
  const uint plane = rest / shape.row_blocks;
  const uint first_y = (rest - plane * shape.row_blocks) * shape.block_rows;
  const uint rows = min(shape.block_rows, shape.output_height - first_y);
  walk.rows = thread < END_OF_THREADS && stores_results(lane) ? rows : 0;
  walk.first_row = plane * shape.output_height + first_y;
  walk.first_column = (number - rest * shape.column_blocks) * COLUMNS;
  // Columns behind the row are there for what the thread before leaves; nobody stores their own results.
  const uint last_column = (shape.output_width - 1) / COLUMNS * COLUMNS;
  walk.column = int(min(walk.first_column, last_column) * STRIDE_X) - shape.start_x;
  walk.begin = plane_begin(plane) + walk.column;
  walk.row = int(first_y * STRIDE_Y) - shape.start_y;
  walk.last_row = walk.row + int((rows - 1) * STRIDE_Y + HEIGHT) - 1;
  walk.is_inner = walk.column >= 0 && walk.column + int(REACH) <= shape.input_width;
  walk.lane = lane;
}

void walk_down(uint thread, uint lane) {
  begin_walk(thread, lane);
#ifdef DMLOP_VULKAN
  [unroll]
  for (uint k = 0; k < AHEAD; ++k) load_row(walk.row + int(k), k);
#endif
  uint y = 0;
  const uint rows = rows_walked();
  const uint input_rows = rows > 0 ? (rows - 1) * STRIDE_Y + HEIGHT : 0;
  [loop]
  for (uint i = 0; i < input_rows; i += PERIOD) {
    [unroll]
    for (uint j = 0; j < PERIOD; ++j) {
      if (i + j < input_rows) {
        take_row();
        set_values(walk.row - 1);
        if (PERIOD == 1) move_ring();
        const uint slot = PERIOD == 1 ? HEIGHT - 1 : j;
        join_row(slot);
        const uint above = i + j + 1 - HEIGHT;  // rows of the thread's that lie above the window
        if (i + j + 1 >= HEIGHT && above % STRIDE_Y == 0) {
          finish_row(y, slot);
          ++y;
        }
      }
    }
  }
}
