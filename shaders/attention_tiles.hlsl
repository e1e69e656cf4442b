// Attention of many queries without scratch: AttentionKernel (lib/ops/kernels/attention.hpp) with values of at most 128
// elements. A group has TILE queries of a head and takes its keys by tiles of KEYS; a thread has eight queries, and of
// these four scores of a tile and four or eight elements of the output. The powers of the scores are relative to the
// largest score so far: when a tile has a larger one, what was added up before is scaled down.
//
// Queries and keys pass through groupshared memory in slices of their elements, powers and values in slices of keys;
// one slice is filled while the other is multiplied.
#define STORES_WORDS
#include "attention.hlsli"

SPECIALIZED(8, HAS_HIGH)    // values have more than KEYS elements
SPECIALIZED(9, IS_VECTORS)  // queries, keys and values are FLOAT32 and read by fours

// The compiler of Direct3D would unroll all of these loops, and take minutes.
#ifdef DMLOP_VULKAN
#define UNROLLED [unroll]
#define UNHINTED
#else
#define UNROLLED [loop]
#define UNHINTED [loop]
#endif

#define TILE 128
#define KEYS 64
#define SLICE 16
#define ROW_VECTORS (TILE / 4)
#define KEY_VECTORS (KEYS / 4)
#define LEFT_VECTORS (SLICE * ROW_VECTORS)            // of queries or powers
#define SLICE_VECTORS (LEFT_VECTORS + SLICE * 2 * KEY_VECTORS)  // and keys or values

groupshared float4 slices[2 * SLICE_VECTORS];

#ifdef DMLOP_VULKAN
DMLOP_BUFFER(1) StructuredBuffer<uint4> query_vectors;
DMLOP_BUFFER(2) StructuredBuffer<uint4> key_vectors;
DMLOP_BUFFER(3) StructuredBuffer<uint4> value_vectors;
float4 load_four(uint input, uint at) {
  return asfloat(input == 1 ? query_vectors[at / 4] : input == 2 ? key_vectors[at / 4] : value_vectors[at / 4]);
}
#else
float4 load_four(uint input, uint at) {
  return asfloat(uint4(load_word(input, at), load_word(input, at + 1), load_word(input, at + 2), load_word(input, at + 3)));
}
#endif

// What a group computes.
struct Block {
  uint batch, head, first_query;
};

Block block_of(uint group) {
  const uint tiles = (parameters[0].queries + TILE - 1) / TILE;
  Block block;
  const uint all_heads = group / tiles;
  block.first_query = (group - all_heads * tiles) * TILE;
  block.batch = all_heads / parameters[0].heads;
  block.head = all_heads - block.batch * parameters[0].heads;
  return block;
}

// Four elements of a row from `element` on, of which there are `size`.
#define FOUR(result, input, slot, type, row_at, element, size)                                        \
  if (IS_VECTORS != 0) {                                                                              \
    result = load_four(input, (element) < (size) ? (row_at) + (element) : 0);                         \
    result = (element) < (size) ? result : float4(0.0f, 0.0f, 0.0f, 0.0f);                            \
  } else {                                                                                            \
    [loop]                                                                                            \
    for (uint part = 0; part < 4; ++part) {                                                           \
      const uint at = (element) + part;                                                               \
      const float number = load_real(input, (row_at) + min(at, (size) - 1) * parameters[0].element_strides[slot], type); \
      const float inside = at < (size) ? number : 0.0f;                                               \
      result = float4(part == 0 ? inside : result.x, part == 1 ? inside : result.y,                   \
                      part == 2 ? inside : result.z, part == 3 ? inside : result.w);                  \
    }                                                                                                 \
  }

float4 four_of_query(uint row_at, uint element) {
  float4 result = float4(0.0f, 0.0f, 0.0f, 0.0f);
  FOUR(result, 1, QUERY, QUERY_TYPE, row_at, element, parameters[0].size)
  return result;
}
float4 four_of_key(uint row_at, uint element) {
  float4 result = float4(0.0f, 0.0f, 0.0f, 0.0f);
  FOUR(result, 2, KEY, KEY_TYPE, row_at, element, parameters[0].size)
  return result;
}
float4 four_of_value(uint row_at, uint element) {
  float4 result = float4(0.0f, 0.0f, 0.0f, 0.0f);
  FOUR(result, 3, VALUE, VALUE_TYPE, row_at, element, parameters[0].value_size)
  return result;
}

// Four elements of four rows.
struct Square {
  float4 a, b, c, d;
};

#define SQUARES_OF_LINE (SLICE / 4)
#define QUERY_SQUARES (ROW_VECTORS * SQUARES_OF_LINE)
#define KEY_SQUARES (KEY_VECTORS * SQUARES_OF_LINE)

// What a thread loads for a slice of queries and keys from element `begin` on. Rows behind the last are the last.
Square load_square(Block block, uint lane, uint first_key, uint begin) {
  Square square;
  const uint element = begin + lane % SQUARES_OF_LINE * 4;
  const uint row = lane % QUERY_SQUARES / SQUARES_OF_LINE * 4;
  const uint key_head = block.head / parameters[0].group;
  square.a = square.b = square.c = square.d = float4(0.0f, 0.0f, 0.0f, 0.0f);
  UNROLLED
  for (uint i = 0; i < 4; ++i) {
    float4 four = square.a;
    if (lane < QUERY_SQUARES) {
      const uint query = min(block.first_query + row + i, parameters[0].queries - 1);
      four = four_of_query(offset_at(QUERY, block.batch, block.head, query), element);
    } else if (lane < QUERY_SQUARES + KEY_SQUARES) {
      const uint key = min(first_key + row + i, parameters[0].keys - 1);
      four = four_of_key(offset_at(KEY, block.batch, key_head, key), element);
    }
    if (i == 0) square.a = four;
    if (i == 1) square.b = four;
    if (i == 2) square.c = four;
    if (i == 3) square.d = four;
  }
  return square;
}

// Where vectors of a slice stand: swapped so that threads that store together do so in different banks.
uint left_at(uint buffer, uint depth, uint vector_) {
  return buffer * SLICE_VECTORS + depth * ROW_VECTORS + (vector_ ^ (depth / 4 * 2));
}
uint key_at(uint buffer, uint depth, uint vector_) {
  return buffer * SLICE_VECTORS + LEFT_VECTORS + depth * KEY_VECTORS + (vector_ ^ (depth / 4 * 2));
}
uint value_at(uint buffer, uint key, uint vector_) {
  return buffer * SLICE_VECTORS + LEFT_VECTORS + key * 2 * KEY_VECTORS + vector_;
}

void store_square(Square square, uint lane, uint buffer) {
  const uint depth = lane % SQUARES_OF_LINE * 4, vector_ = lane % QUERY_SQUARES / SQUARES_OF_LINE;
  const float4 a = square.a, b = square.b, c = square.c, d = square.d;
  const bool is_query = lane < QUERY_SQUARES;
  const uint at = is_query ? left_at(buffer, depth, vector_) : key_at(buffer, depth, vector_);
  const uint pitch = is_query ? ROW_VECTORS : KEY_VECTORS;
  if (lane < QUERY_SQUARES + KEY_SQUARES) {
    slices[at] = float4(a.x, b.x, c.x, d.x);
    slices[at + pitch] = float4(a.y, b.y, c.y, d.y);
    slices[at + 2 * pitch] = float4(a.z, b.z, c.z, d.z);
    slices[at + 3 * pitch] = float4(a.w, b.w, c.w, d.w);
  }
}

// Four elements of a value, of the slice of keys from first_key on. Behind the last key, where powers are 0, values are
// 0, too: 0 times infinity is not 0.
float4 load_values(Block block, uint lane, uint first_key, uint column) {
  const uint key = first_key + lane / KEY_VECTORS;
  const float4 values = four_of_value(
      offset_at(VALUE, block.batch, block.head / parameters[0].group, min(key, parameters[0].keys - 1)),
      column + lane % KEY_VECTORS * 4);
  return key < parameters[0].keys ? values : float4(0.0f, 0.0f, 0.0f, 0.0f);
}

float larger_number(float a, float b) { return b > a ? b : a; }
float4 larger_numbers(float4 a, float4 b) {
  return float4(larger_number(a.x, b.x), larger_number(a.y, b.y), larger_number(a.z, b.z), larger_number(a.w, b.w));
}
float largest_of(float4 a) { return larger_number(larger_number(a.x, a.y), larger_number(a.z, a.w)); }

// Scores of four keys; none for keys that there are not.
float4 scores_of_keys(float4 scores, uint key) {
  const uint last = parameters[0].keys - 1;
  const float none = -infinity();
  return float4(key <= last ? scores.x : none, key + 1 <= last ? scores.y : none, key + 2 <= last ? scores.z : none,
                key + 3 <= last ? scores.w : none);
}

// The same for products of a query with masks and biases.
float4 scores_of(float4 products, Block block, uint row, uint key) {
  Row at;
  at.batch = block.batch;
  at.head = block.head;
  at.query = min(block.first_query + row, parameters[0].queries - 1);
  float4 scores = products;
  [loop]
  for (uint i = 0; i < 4; ++i) {
    // Each goes to the end, so that all had their turn.
    const float score = score_of(scores.x, at, min(key + i, parameters[0].keys - 1));
    scores = float4(scores.yzw, score);
  }
  return scores_of_keys(scores, key);
}

// The largest numbers of eight rows by all threads that share them.
void share_largest(uint lane, inout float4 low, inout float4 high) {
  const uint rows = lane / KEY_VECTORS * 2, column = lane % KEY_VECTORS;
  slices[column * ROW_VECTORS + rows] = low;
  slices[column * ROW_VECTORS + rows + 1] = high;
  GroupMemoryBarrierWithGroupSync();
  const uint mine = lane % ROW_VECTORS, part = lane / ROW_VECTORS % 4;
  float4 largest = slices[part * 4 * ROW_VECTORS + mine];
  [unroll]
  for (uint i = 1; i < 4; ++i) largest = larger_numbers(largest, slices[(part * 4 + i) * ROW_VECTORS + mine]);
  if (lane < 4 * ROW_VECTORS) slices[SLICE_VECTORS + part * ROW_VECTORS + mine] = largest;
  GroupMemoryBarrierWithGroupSync();
  [unroll]
  for (uint j = 0; j < 4; ++j) {
    low = larger_numbers(low, slices[SLICE_VECTORS + j * ROW_VECTORS + rows]);
    high = larger_numbers(high, slices[SLICE_VECTORS + j * ROW_VECTORS + rows + 1]);
  }
}

// The sums of numbers of eight rows of all threads that share them.
void share_sums(uint lane, inout float4 low, inout float4 high) {
  const uint rows = lane / KEY_VECTORS * 2, column = lane % KEY_VECTORS;
  slices[column * ROW_VECTORS + rows] = low;
  slices[column * ROW_VECTORS + rows + 1] = high;
  GroupMemoryBarrierWithGroupSync();
  low = float4(0.0f, 0.0f, 0.0f, 0.0f);
  high = low;
  UNHINTED
  for (uint i = 0; i < KEY_VECTORS; ++i) {
    low += slices[i * ROW_VECTORS + rows];
    high += slices[i * ROW_VECTORS + rows + 1];
  }
}

float4 factors_of(float4 before, float4 largest) {
  return float4(largest.x == before.x ? 1.0f : exp(before.x - largest.x), largest.y == before.y ? 1.0f : exp(before.y - largest.y),
                largest.z == before.z ? 1.0f : exp(before.z - largest.z), largest.w == before.w ? 1.0f : exp(before.w - largest.w));
}

// Stores four elements of the result of a query.
void store_four(Block block, uint row, uint column, float4 numbers) {
  const uint query = block.first_query + row, value_size = parameters[0].value_size;
  if (query >= parameters[0].queries || column >= value_size) return;
  const uint position = (block.batch * parameters[0].queries + query) * parameters[0].heads + block.head;
  const uint at = position * value_size + column;
  if (OUTPUT_TYPE == FLOAT32) {
    store_words(at, 4, asuint(numbers));
  } else {
    store_words(at / 2, 2, uint4(half_bits(numbers.x) | half_bits(numbers.y) << 16, half_bits(numbers.z) | half_bits(numbers.w) << 16, 0, 0));
  }
}

#define EACH_ROW(DO) DO(0, low, x) DO(1, low, y) DO(2, low, z) DO(3, low, w) DO(4, high, x) DO(5, high, y) DO(6, high, z) DO(7, high, w)
#define DECLARE(i, half_, part) float4 left##i = float4(0, 0, 0, 0), right##i = float4(0, 0, 0, 0);
#define DECLARE_SCORES(i, half_, part) float4 scores##i = float4(0, 0, 0, 0);
#define MULTIPLY(i, half_, part) scores##i += half_##_queries.part * keys;
#define LEAVE_PRODUCTS(i, half_, part) slices[(row + i) * KEY_VECTORS + column / 4] = scores##i;
#define TAKE_SCORES(i, half_, part) scores##i = slices[(row + i) * KEY_VECTORS + column / 4];
#define MAKE_SCORES(i, half_, part) scores##i = scores_of_keys(scores##i * parameters[0].scale, first_key + column);
#define FIND_LARGEST(i, half_, part) half_##_tile.part = largest_of(scores##i);
#define MAKE_POWERS(i, half_, part) { \
    const float shift = half_##_largest.part == -infinity() ? 0.0f : half_##_largest.part; \
    scores##i = exp(scores##i - shift); \
    half_##_sums.part = half_##_sums.part * half_##_factors.part + ((scores##i.x + scores##i.y) + (scores##i.z + scores##i.w)); \
    left##i *= half_##_factors.part; \
    if (HAS_HIGH != 0) right##i *= half_##_factors.part; \
  }
#define STORE_POWERS(k, part) \
  slices[left_at(buffer, column % SLICE + k, row / 4)] = float4(scores0.part, scores1.part, scores2.part, scores3.part); \
  slices[left_at(buffer, column % SLICE + k, row / 4 + 1)] = float4(scores4.part, scores5.part, scores6.part, scores7.part);
#define ADD_VALUES(i, half_, part) left##i += half_##_powers.part * values; if (HAS_HIGH != 0) right##i += half_##_powers.part * high_values;
#define LEAVE_LEFT(i, half_, part) slices[(row + i) * KEY_VECTORS + column / 4] = left##i / half_##_sums.part;
#define LEAVE_RIGHT(i, half_, part) slices[(row + i) * KEY_VECTORS + column / 4] = right##i / half_##_sums.part;

void attend(uint group, uint lane) {
  const Block block = block_of(group);
  const uint row = lane / KEY_VECTORS * 8, column = lane % KEY_VECTORS * 4;
  EACH_ROW(DECLARE)
  float4 low_largest = float4(0, 0, 0, 0) - infinity(), high_largest = low_largest;
  float4 low_sums = float4(0, 0, 0, 0), high_sums = low_sums;
  uint buffer = 0;
  Square square = load_square(block, lane, 0, 0);
  for (uint first_key = 0; first_key < parameters[0].keys; first_key += KEYS) {
    EACH_ROW(DECLARE_SCORES)
    for (uint begin = 0; begin < parameters[0].size; begin += SLICE) {
      store_square(square, lane, buffer);
      GroupMemoryBarrierWithGroupSync();
      if (begin + SLICE < parameters[0].size) square = load_square(block, lane, first_key, begin + SLICE);
      UNROLLED
      for (uint d = 0; d < SLICE; ++d) {
        const float4 low_queries = slices[left_at(buffer, d, row / 4)];
        const float4 high_queries = slices[left_at(buffer, d, row / 4 + 1)];
        const float4 keys = slices[key_at(buffer, d, column / 4)];
        EACH_ROW(MULTIPLY)
      }
      buffer = 1 - buffer;
    }
    float4 next_values = load_values(block, lane, first_key, 0), next_high = next_values;
    if (HAS_HIGH != 0) next_high = load_values(block, lane, first_key, KEYS);
    float4 low_tile, high_tile;
    if (MASK != 0 || BIAS_TYPE != 0) {
      GroupMemoryBarrierWithGroupSync();
      EACH_ROW(LEAVE_PRODUCTS)
      [loop]
      for (uint i = 0; i < 8; ++i) {
        const uint at = (row + i) * KEY_VECTORS + column / 4;
        slices[at] = scores_of(slices[at], block, row + i, first_key + column);
      }
      EACH_ROW(TAKE_SCORES)
    } else {
      EACH_ROW(MAKE_SCORES)
    }
    EACH_ROW(FIND_LARGEST)
    low_tile = larger_numbers(low_largest, low_tile);
    high_tile = larger_numbers(high_largest, high_tile);
    GroupMemoryBarrierWithGroupSync();
    share_largest(lane, low_tile, high_tile);
    const float4 low_factors = factors_of(low_largest, low_tile), high_factors = factors_of(high_largest, high_tile);
    low_largest = low_tile;
    high_largest = high_tile;
    EACH_ROW(MAKE_POWERS)
    GroupMemoryBarrierWithGroupSync();
    UNHINTED
    for (uint slice = 0; slice < KEYS; slice += SLICE) {
      if (column / SLICE == slice / SLICE) {
        STORE_POWERS(0, x) STORE_POWERS(1, y) STORE_POWERS(2, z) STORE_POWERS(3, w)
      }
      slices[value_at(buffer, lane / KEY_VECTORS, lane % KEY_VECTORS)] = next_values;
      if (HAS_HIGH != 0) slices[value_at(buffer, lane / KEY_VECTORS, KEY_VECTORS + lane % KEY_VECTORS)] = next_high;
      GroupMemoryBarrierWithGroupSync();
      if (slice + SLICE < KEYS) {
        next_values = load_values(block, lane, first_key + slice + SLICE, 0);
        if (HAS_HIGH != 0) next_high = load_values(block, lane, first_key + slice + SLICE, KEYS);
      } else {
        square = load_square(block, lane, first_key + KEYS, 0);
      }
      UNROLLED
      for (uint k = 0; k < SLICE; ++k) {
        const float4 low_powers = slices[left_at(buffer, k, row / 4)];
        const float4 high_powers = slices[left_at(buffer, k, row / 4 + 1)];
        const float4 values = slices[value_at(buffer, k, column / 4)];
        float4 high_values = values;
        if (HAS_HIGH != 0) high_values = slices[value_at(buffer, k, KEY_VECTORS + column / 4)];
        EACH_ROW(ADD_VALUES)
      }
      buffer = 1 - buffer;
    }
  }
  GroupMemoryBarrierWithGroupSync();
  share_sums(lane, low_sums, high_sums);
  GroupMemoryBarrierWithGroupSync();
  EACH_ROW(LEAVE_LEFT)
  [loop]
  for (uint i = 0; i < 8; ++i) store_four(block, row + i, column, slices[(row + i) * KEY_VECTORS + column / 4]);
  if (HAS_HIGH != 0) {
    EACH_ROW(LEAVE_RIGHT)
    [loop]
    for (uint j = 0; j < 8; ++j) store_four(block, row + j, column + KEYS, slices[(row + j) * KEY_VECTORS + column / 4]);
  }
}

void run(uint thread, uint lane) { attend(thread / GROUP_SIZE, lane); }
