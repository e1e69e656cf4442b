// Windows over two axes by walking down them, for lp_pooling_walk.hlsl, pooling_walk.hlsl and convolution_walk.hlsl. A
// thread owns a few columns of outputs. It joins what each row of the input has under its windows once, and keeps that in
// a ring for as long as windows reach the row. So a window of w x w costs about 2 w operations, not w^2.
// lib/gpu/window_walk.hpp plans it.
//
// With WEIGHTED, elements of a window are multiplied by `weights`, row by row, before they are added. The ring then holds
// the sums of the windows that reach a row.
//
// A kernel defines in front of it
//   JOINED(a, b): two numbers as one, of which a comes first; and NEUTRAL, which changes nothing. With WEIGHTED NEUTRAL
//   alone, which takes the place of padding;
//   float value_of(float element);
//   uint4 load_words(uint at, uint count), store_words(uint at, uint count, uint4 words), and output_words;
// and behind it
//   int plane_begin(uint plane): the element where a plane of the input begins, and
//   float result_of(float joined, uint n, int column, uint row, uint y): of the nth column of a thread, which is `column`
//   of `row` of all planes, the y-th of the thread. It is called for columns in front of or behind the row, too.

SPECIALIZED(0, ELEMENT_SIZE)  // 4: FLOAT32; 2: FLOAT16
SPECIALIZED(1, OPERATION)     // the kernel's
SPECIALIZED(2, WIDTH)         // of a window
SPECIALIZED(3, HEIGHT)
SPECIALIZED(4, STRIDE_X)
SPECIALIZED(5, STRIDE_Y)
SPECIALIZED(6, COLUMNS)     // that a thread owns: whole words of each row
SPECIALIZED(7, LOADED)      // words of the input at once: 1, 2 or 4
SPECIALIZED(8, STORED)      // words of the output at once
SPECIALIZED(9, IS_PADDED)   // windows reach beyond the input
SPECIALIZED(10, IS_SHIFTED)  // what a thread needs of a row may begin within a word
SPECIALIZED(11, SHIFT)       // so many elements every second row of the output begins behind what is stored at once: 0 to 2
SPECIALIZED(12, AHEAD)       // rows whose words are loaded before a row is used: bytes in flight, which hide latency
SPECIALIZED(13, SKIPPED)     // elements that are loaded in front of those needed, so that loads begin where they should

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
// Columns that a thread joins: in a row that begins so much behind, it owns columns to the left.
#define SPAN (COLUMNS + SHIFT)
#define SPAN_MOST 9
#define HEIGHT_MOST 8
// Elements of a row, and the words that hold them.
#define REACH ((SPAN - 1) * STRIDE_X + WIDTH)
#define PER_WORD (4 / ELEMENT_SIZE)
#define WORDS (ELEMENT_SIZE == 4 ? SKIPPED + REACH : (SKIPPED + REACH + IS_SHIFTED + 1) / 2)
#define WORDS_MOST 28
#define AHEAD_MOST 4

static uint words[WORDS_MOST];
static uint next_words[AHEAD_MOST * WORDS_MOST];
static float values[32];
static float ring[SPAN_MOST * HEIGHT_MOST];
static float results[8];
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
  int begin;        // element of row 0 of the input that the thread's first column needs first
  int column;       // of the input: that of this element
  int row;          // of the input: the next one
  int last_row;     // that the thread needs
  bool is_inner;    // no element lies outside of a row
  uint first_row;   // of the outputs of all planes
  int first_column;  // of the outputs
};
static Walk walk;

int plane_begin(uint plane);
float result_of(float joined, uint n, int column, uint row, uint y);

#ifndef WEIGHTED
// a(0) to a(count - 1), 1 to 8 numbers, joined in pairs.
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
    if (count > 6) {                                \
      float last_ = a(6);                           \
      if (count > 7) last_ = JOINED(last_, a(7));   \
      four_ = JOINED(four_, last_);                 \
    }                                               \
    result = JOINED(result, four_);                 \
  }
#endif

// Loads what the thread needs of a row of the input, as the kth of those to come.
void load_row(int row, uint k) {
  row = min(row, walk.last_row);
  if (IS_PADDED != 0) row = clamp(row, 0, shape.input_height - 1);
  const int element = walk.begin - int(SKIPPED) + row * shape.row_stride;
  // A shift of signed numbers: in front of the first row they may be negative.
  const uint at = ELEMENT_SIZE == 4 ? uint(element) : uint(element >> 1);
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
    float x = asfloat(words[ELEMENT_SIZE == 4 ? e : 0]);
    if (ELEMENT_SIZE == 2) {
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
    const uint at = (slot + HEIGHT - 1 - y) % HEIGHT * SPAN_MOST;
    WALK_LOOP
    for (uint c = 0; c < SPAN; ++c) {
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
  for (uint c = 0; c < SPAN; c += 2) {
    if (STRIDE_X == 1 && WIDTH > 1 && c + 1 < SPAN) {
      // Windows side by side share all but one column.
      float middle;
#define MIDDLE(k) values[c + 1 + (k)]
      JOIN_PAIRS(middle, WIDTH - 1, MIDDLE)
      ring[slot * SPAN_MOST + c] = JOINED(values[c], middle);
      ring[slot * SPAN_MOST + c + 1] = JOINED(middle, values[c + WIDTH]);
    } else {
      float joined;
#define FIRST(k) values[c * STRIDE_X + (k)]
      JOIN_PAIRS(joined, WIDTH, FIRST)
      ring[slot * SPAN_MOST + c] = joined;
      if (c + 1 < SPAN) {
#define SECOND(k) values[(c + 1) * STRIDE_X + (k)]
        JOIN_PAIRS(joined, WIDTH, SECOND)
        ring[slot * SPAN_MOST + c + 1] = joined;
      }
    }
  }
}
#endif

void move_ring() {
  [unroll]
  for (uint c = 0; c < SPAN; ++c) {
    const float first = ring[c];
    [unroll]
    for (uint k = 0; k + 1 < HEIGHT; ++k) ring[k * SPAN_MOST + c] = ring[(k + 1) * SPAN_MOST + c];
    ring[(HEIGHT - 1) * SPAN_MOST + c] = first;
  }
}

// Stores the half of a word that the mask covers; the other one may be another thread's.
void store_half(uint at, uint word, uint mask) {
  InterlockedAnd(output_words[at], ~mask);
  InterlockedOr(output_words[at], word & mask);
}

// Stores a word at an end of a row, as far as it is in the row; it may be one of two rows.
void store_end(uint at, int x, uint word) {
  const int width = int(shape.output_width);
  if (x >= 0 && x + int(PER_WORD) <= width) {
    store_words(at, 1, uint4(word, 0, 0, 0));
  } else if (ELEMENT_SIZE == 2 && SHIFT == 1 && x + 1 >= 0 && x < width) {
    store_half(at, word, x < 0 ? 0xFFFF0000u : 0xFFFFu);
  }
}

// Stores the results of the columns from `column` on; `first` is the output element of column 0.
void store_results(uint first, int column) {
  const int width = int(shape.output_width);
  uint packed[8];
  [unroll]
  for (uint k = 0; k < COLUMNS / PER_WORD; ++k) {
    packed[k] = asuint(results[k]);
    if (ELEMENT_SIZE == 2) packed[k] = half_bits(results[2 * k]) | (half_bits(results[2 * k + 1]) << 16);
  }
  [unroll]
  for (uint w = 0; w < COLUMNS / PER_WORD; w += STORED) {
    const int x = column + int(PER_WORD * w);
    const bool is_whole = SHIFT == 0 ? x < width : x >= 0 && x + int(STORED * PER_WORD) <= width;
    const uint at = (first + uint(x)) / PER_WORD;
    if (is_whole) {
      uint4 stored = uint4(packed[w], 0, 0, 0);
      if (STORED > 1) stored.y = packed[w + 1];
      if (STORED > 2) stored.z = packed[w + 2];
      if (STORED > 2) stored.w = packed[w + 3];
      store_words(at, STORED, stored);
    } else if (SHIFT != 0) {
      [unroll]
      for (uint i = 0; i < STORED; ++i) store_end(at + i, x + int(PER_WORD * i), packed[w + i]);
    }
  }
}

// The first column that the thread owns in a row of all planes.
int column_of(uint row) {
  return walk.first_column - (SHIFT != 0 && (row * shape.output_width & (2 * SHIFT - 1)) != 0 ? int(SHIFT) : 0);
}

// The thread's row y of outputs, whose last row of the input stands in place `slot` of the ring.
void finish_row(uint y, uint slot) {
  const uint row = walk.first_row + y;
  const int column = column_of(row);
  float joined[SPAN_MOST];
  [unroll]
  for (uint c = 0; c < SPAN; ++c) {
#ifdef WEIGHTED
    joined[c] = ring[slot * SPAN_MOST + c];
#else
    float all;
#define IN_RING(k) ring[(slot + 1 + (k)) % HEIGHT * SPAN_MOST + c]
    JOIN_PAIRS(all, HEIGHT, IN_RING)
    joined[c] = all;
#endif
  }
  [unroll]
  for (uint n = 0; n < COLUMNS; ++n) {
    float all = joined[n];
    if (SHIFT != 0) all = column < walk.first_column ? all : joined[n + SHIFT];
    results[n] = result_of(all, n, column + int(n), row, y);
  }
  store_results(row * shape.output_width, column);
}

void walk_down(uint thread) {
  const uint rest = thread / shape.column_blocks;
  const uint plane = rest / shape.row_blocks;
  const uint first_y = (rest - plane * shape.row_blocks) * shape.block_rows;
  const uint rows = min(shape.block_rows, shape.output_height - first_y);
  const uint input_rows = (rows - 1) * STRIDE_Y + HEIGHT;
  walk.first_row = plane * shape.output_height + first_y;
  walk.first_column = int((thread - rest * shape.column_blocks) * COLUMNS);
  walk.column = (walk.first_column - int(SHIFT)) * int(STRIDE_X) - shape.start_x;
  walk.begin = plane_begin(plane) + walk.column;
  walk.row = int(first_y * STRIDE_Y) - shape.start_y;
  walk.last_row = walk.row + int(input_rows) - 1;
  walk.is_inner = walk.column >= 0 && walk.column + int(REACH) <= shape.input_width;
#ifdef DMLOP_VULKAN
  [unroll]
  for (uint k = 0; k < AHEAD; ++k) load_row(walk.row + int(k), k);
#endif
  uint y = 0;
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
