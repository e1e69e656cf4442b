// Sums of at most two weighted elements along each of the last two axes: what resampling by a linear or the nearest
// element is (lib/gpu/kernels/resample_walk.cpp). A thread owns a few columns of the output and walks down: it keeps
// their taps, and the interpolated rows above and below, which as a rule serve several rows of the output.
//
// Input 1 is the tensor. The parameters are the taps of each row of the output, then those of each column.
//
// Where the elements of a thread's columns stand side by side and as in every other thread, as for images that become
// twice as large, it loads them as words. Elsewhere it loads those of each column.
#include "parameters/resample_walk.hlsli"
#define CONSTANTS ResampleWalkConstants
#define PARAMETERS ResampleTaps
#define STORES_WORDS
#include "elements.hlsli"
#include "planes.hlsli"

RESAMPLE_WALK_SPECIALIZATION(SPECIALIZED)

#define COLUMNS_MOST 8
#define WORDS_MOST 17
#define PER_WORD (TYPE == FLOAT16 ? 2 : 1)

static uint first[COLUMNS_MOST];
static int begin_column;
static bool has_zeros;  // among weights
static float values[2 * WORDS_MOST];
static float first_weight[COLUMNS_MOST];
static float second_weight[COLUMNS_MOST];

// The row of the input that the walk stands at, and the next one, interpolated.
static float above[COLUMNS_MOST];
static float below[COLUMNS_MOST];

void set_columns(uint column) {
  begin_column = int(column / COLUMNS * ADVANCE) - int(BEFORE);
  has_zeros = false;
  [unroll]
  for (uint c = 0; c < COLUMNS; ++c) {
    const ResampleTaps taps = parameters[constants.output_height + min(column + c, constants.output_width - 1)];
    first[c] = taps.first * constants.column_stride;
    first_weight[c] = taps.weight;
    second_weight[c] = taps.next_weight;
    has_zeros = has_zeros || first_weight[c] == 0.0f || (HAS_PAIRS != 0 && second_weight[c] == 0.0f);
    above[c] = below[c] = 0.0f;
  }
}

// An element of weight 0 has no part, whatever it is.
float weighted(float weight, float x) { return weight != 0.0f ? weight * x : 0.0f; }

// Loads the elements of the thread's columns. Those outside of the row have weight 0, but they are loaded.
void load_values(uint row) {
  const int at = (int(row) + begin_column) >> (TYPE == FLOAT16 ? 1 : 0);
  [unroll]
  for (uint i = 0; i < WORDS; ++i) {
    const uint word = load_word(1, uint(clamp(at + int(i), 0, int(constants.last_word))));
    if (TYPE == FLOAT16) {
      values[2 * i] = f16tof32(word & 0xFFFF);
      values[2 * i + 1] = f16tof32(word >> 16);
    } else {
      values[i] = asfloat(word);
    }
  }
}

void interpolate_values() {
  [unroll]
  for (uint c = 0; c < COLUMNS; ++c) {
    const uint offset = OFFSETS >> (4 * c) & 15;
    below[c] = first_weight[c] * values[offset];
    if (HAS_PAIRS != 0) below[c] += second_weight[c] * values[offset + 1];
  }
  if (has_zeros) {
    [unroll]
    for (uint d = 0; d < COLUMNS; ++d) {
      const uint offset = OFFSETS >> (4 * d) & 15;
      below[d] = weighted(first_weight[d], values[offset]) + weighted(second_weight[d], values[offset + 1]);
    }
  }
}

void interpolate_below(uint row) {
  if (WORDS != 0) {
    load_values(row);
    interpolate_values();
    return;
  }
  [unroll]
  for (uint c = 0; c < COLUMNS; ++c) {
    const uint at = row + first[c];
    below[c] = first_weight[c] * load_real(1, at, TYPE);
    if (HAS_PAIRS != 0)
      below[c] += weighted(second_weight[c], load_real(1, second_weight[c] != 0.0f ? at + constants.column_stride : at, TYPE));
  }
}

void store_row(uint at, uint column, float weight_above, float weight_below) {
  uint words[COLUMNS_MOST];
  [unroll]
  for (uint w = 0; w < COLUMNS / PER_WORD; ++w) {
    const uint c = PER_WORD * w;
    const float x = weight_above * above[c] + weighted(weight_below, below[c]);
    words[w] = asuint(x);
    if (TYPE == FLOAT16) {
      const float y = weight_above * above[c + PER_WORD - 1] + weighted(weight_below, below[c + PER_WORD - 1]);
      words[w] = half_bits(x) | half_bits(y) << 16;
    }
  }
  [unroll]
  for (uint v = 0; v < COLUMNS / PER_WORD; v += STORED) {
    if (column + PER_WORD * v < constants.output_width) {
      uint4 stored = uint4(words[v], 0, 0, 0);
      if (STORED > 1) stored.y = words[v + 1];
      if (STORED > 2) stored.z = words[v + 2];
      if (STORED > 2) stored.w = words[v + 3];
      store_words(at / PER_WORD + v, STORED, stored);
    }
  }
}

void run(uint thread) {
  const uint rest = thread / constants.column_blocks, plane = rest / constants.row_blocks;
  const uint column = (thread - rest * constants.column_blocks) * COLUMNS;
  const uint begin = (rest - plane * constants.row_blocks) * constants.block_rows;
  const uint end = min(begin + constants.block_rows, constants.output_height);
  const uint offset = plane_offset(plane);
  uint at = (plane * constants.output_height + begin) * constants.output_width + column;
  set_columns(column);
  uint row_above = 0xFFFFFFFFu, row_below = 0xFFFFFFFFu;
  [loop]
  for (uint y = begin; y < end; ++y) {
    const ResampleTaps taps = parameters[y];
    const uint row = taps.first;
    if (row_above != row) {
      if (row_below != row) interpolate_below(offset + row * constants.row_stride);
      [unroll]
      for (uint c = 0; c < COLUMNS; ++c) above[c] = below[c];
      row_above = row_below = row;
    }
    if (taps.next_weight != 0.0f && row_below != row + 1) {
      interpolate_below(offset + (row + 1) * constants.row_stride);
      row_below = row + 1;
    }
    store_row(at, column, taps.weight, taps.next_weight);
    at += constants.output_width;
  }
}
