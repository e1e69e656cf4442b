// Data movement (lib/ops/kernels/index_map.hpp) in which the elements that stand side by side in the source do not do
// so in the output: a tile of both goes through groupshared memory, so that loads and stores take what lies together.
// A group moves a tile of 128 bytes of source rows by 128 source rows (64 of elements of 8 bytes).
//
// Input 1 is the source.
#include "parameters/transpose.hlsli"
#define CONSTANTS TransposeConstants
#define WHOLE_GROUPS
#include "bindings.hlsli"

TRANSPOSE_SPECIALIZATION(SPECIALIZED)

// The compiler for Direct3D does not divide by 0, which a test specializes.
#define SIZE max(ELEMENT_SIZE, 1u)
#define PER_VECTOR (16 / SIZE)
#define PER_WORD (SIZE < 4 ? 4 / SIZE : 1)

// Of a tile: words along a source row, one for each thread of 32; vectors of output rows.
#define TILE_WORDS 32
#define TILE_COLUMNS (TILE_WORDS * PER_WORD)
#define TILE_VECTORS (SIZE < 4 ? 8 * SIZE : 32)
#define THREAD_WORDS 16

#define COLUMNS constants.columns
#define ROWS constants.rows

groupshared uint4 tile[1024];

// Threads that store side by side do not wait for each other, nor do those that load.
uint place_in_tile(uint column, uint vector_) {
  return column * TILE_VECTORS + (vector_ ^ (column / PER_WORD & 7));
}

// The word of source element `at` and those behind it.
uint source_word(uint at) {
  if (SIZE >= 4) return input1[at];
  const uint word = at * SIZE >> 2;
  if (IS_ALIGNED != 0) return input1[word];
  const uint shift = (at * SIZE & 3) * 8;
  // In two steps, because no shift is by 32.
  return (input1[word] >> shift) | ((input1[word + 1] << 1) << (31 - shift));
}

// Takes the index along axis a off a tile's index.
void place_along(inout uint index, uint4 axis, inout uint source, inout uint output) {
  const uint next = index / axis.x;
  const uint o = index - next * axis.x;
  index = next;
  source += o * axis.y;
  output += o * axis.z;
}

// Four words of single bytes become the four words of what stood below each other.
uint4 transposed_bytes(uint4 words) {
  const uint2 even = (words.xz & 0xFF00FF) | ((words.yw & 0xFF00FF) << 8);
  const uint2 odd = ((words.xz >> 8) & 0xFF00FF) | (words.yw & 0xFF00FF00);
  return uint4((even.x & 0xFFFF) | (even.y << 16), (odd.x & 0xFFFF) | (odd.y << 16),
               (even.x >> 16) | (even.y & 0xFFFF0000), (odd.x >> 16) | (odd.y & 0xFFFF0000));
}

void run(uint thread, uint lane) {
  uint rest = thread / GROUP_SIZE;
  uint next = rest / constants.row_tiles;
  const uint first_row = (rest - next * constants.row_tiles) * TILE_VECTORS * PER_VECTOR;
  rest = next;
  next = rest / constants.column_tiles;
  const uint first_column = (rest - next * constants.column_tiles) * TILE_COLUMNS;
  rest = next;
  uint source = uint(constants.offset), output = 0;
  if (OTHER_AXES > 3) place_along(rest, constants.axis3, source, output);
  if (OTHER_AXES > 2) place_along(rest, constants.axis2, source, output);
  if (OTHER_AXES > 1) place_along(rest, constants.axis1, source, output);
  if (OTHER_AXES > 0) place_along(rest, constants.axis0, source, output);

  // What is behind the ends is loaded from before them, and not stored.
  const uint word = lane & 31, first_vector = lane >> 5;
  const uint first = source + min(first_column + word * PER_WORD, (COLUMNS - 1) / PER_WORD * PER_WORD);
  uint words[THREAD_WORDS];
  [unroll]
  for (uint i = 0; i < THREAD_WORDS; ++i) {
    const uint e = SIZE == 8 ? i >> 1 : i;  // of the thread's rows
    const uint row = first_row + (first_vector + e / PER_VECTOR * 8) * PER_VECTOR + e % PER_VECTOR;
    const uint at = first + min(row, ROWS - 1) * constants.row_stride;
    words[i] = SIZE == 8 ? input1[2 * at + (i & 1)] : source_word(at);
  }
  uint4 vectors[4];
  [unroll]
  for (uint v = 0; v < 4; ++v) vectors[v] = uint4(words[4 * v], words[4 * v + 1], words[4 * v + 2], words[4 * v + 3]);
  if (SIZE == 1) {
    const uint4 a = transposed_bytes(vectors[0]), b = transposed_bytes(vectors[1]);
    const uint4 c = transposed_bytes(vectors[2]), d = transposed_bytes(vectors[3]);
    tile[place_in_tile(4 * word, first_vector)] = uint4(a.x, b.x, c.x, d.x);
    tile[place_in_tile(4 * word + 1, first_vector)] = uint4(a.y, b.y, c.y, d.y);
    tile[place_in_tile(4 * word + 2, first_vector)] = uint4(a.z, b.z, c.z, d.z);
    tile[place_in_tile(4 * word + 3, first_vector)] = uint4(a.w, b.w, c.w, d.w);
  } else if (SIZE == 2) {
    [unroll]
    for (uint h = 0; h < 2; ++h) {
      const uint4 even = uint4(vectors[2 * h].xz, vectors[2 * h + 1].xz), odd = uint4(vectors[2 * h].yw, vectors[2 * h + 1].yw);
      tile[place_in_tile(2 * word, first_vector + 8 * h)] = (even & 0xFFFF) | (odd << 16);
      tile[place_in_tile(2 * word + 1, first_vector + 8 * h)] = (even >> 16) | (odd & 0xFFFF0000);
    }
  } else {
    [unroll]
    for (uint w = 0; w < 4; ++w) tile[place_in_tile(word, first_vector + 8 * w)] = vectors[w];
  }
  GroupMemoryBarrierWithGroupSync();
  [unroll]
  for (uint k = 0; k < 4; ++k) {
    const uint at = lane + k * GROUP_SIZE;
    const uint column = at / TILE_VECTORS, vector_ = at % TILE_VECTORS;
    const uint row = first_row + vector_ * PER_VECTOR;
    if (first_column + column < COLUMNS && row < ROWS)
      output0[(output + (first_column + column) * constants.column_stride + row) / PER_VECTOR] = tile[place_in_tile(column, vector_)];
  }
}
