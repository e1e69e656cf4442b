// Attention of many queries without scratch: AttentionKernel (lib/ops/kernels/attention.hpp). A group has QUERIES
// queries of a head and COLUMNS elements of their values, and takes the keys by tiles of COLUMNS. A thread has the
// products of eight queries with eight keys, and then with eight elements of values. The powers of the scores are
// relative to the largest score so far: when a tile has a larger one, what was added up before is scaled down.
//
// Queries and keys pass through groupshared memory in slices of their elements, powers and values in slices of keys.
// One slice is filled while the other is multiplied.
#define STORES_WORDS
#define GROUP_SIZE 128
#include "attention.hlsli"


// The compiler of Direct3D would unroll all of these loops, and take minutes.
#ifdef DMLOP_VULKAN
#define UNROLLED [unroll]
#else
#define UNROLLED [loop]
#endif

// How many keys a group goes over, and whether some of its queries do not count all of those from `first_key` on, where
// there are lengths. Direct3D's compiler does not see that all threads of a group know the same.
#ifdef DMLOP_VULKAN
#define KEYS_OF_GROUP(counted) (counted)
#define IS_CUT(first_key, counted_by_all) (LENGTHS_BUFFER != 0 && first_key + COLUMNS > counted_by_all)
#else
#define KEYS_OF_GROUP(counted) parameters[0].keys
#define IS_CUT(first_key, counted_by_all) (LENGTHS_BUFFER != 0)
#endif

#define QUERIES 128
#define COLUMNS 64
#define SLICE 16
#define SLICES (COLUMNS / SLICE)
// Vectors of four rows or columns. A thread's products are of a vector of each half.
#define ROW_VECTORS (QUERIES / 4)
#define COLUMN_VECTORS (COLUMNS / 4)
#define HIGH (ROW_VECTORS / 2)
#define RIGHT (COLUMN_VECTORS / 2)
#define LEFT_VECTORS (SLICE * ROW_VECTORS)  // of queries or powers
#define SLICE_VECTORS (LEFT_VECTORS + SLICE * COLUMN_VECTORS)  // and keys or values

// 24 KiB: an H100 runs two such groups on a multiprocessor, but only one of those that have more.
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
  uint batch, head, first_query, first_value;
};

Block block_of(uint group) {
  const uint query_tiles = (parameters[0].queries + QUERIES - 1) / QUERIES;
  const uint value_tiles = (parameters[0].value_size + COLUMNS - 1) / COLUMNS;
  Block block;
  const uint tiles = group / query_tiles;
  block.first_query = (group - tiles * query_tiles) * QUERIES;
  const uint all_heads = tiles / value_tiles;
  block.first_value = (tiles - all_heads * value_tiles) * COLUMNS;
  block.batch = all_heads / parameters[0].heads;
  block.head = all_heads - block.batch * parameters[0].heads;
  return block;
}

// Four elements of a row that begins at row_at. Those behind the last are anything: a thread that looked at them at once
// would wait for memory.
#define FOUR_OF(name, input, slot, type, size)                                                               \
  float4 name(uint row_at, uint element) {                                                                   \
    float4 result = float4(0.0f, 0.0f, 0.0f, 0.0f);                                                          \
    if (IS_VECTORS != 0) {                                                                                   \
      result = load_four(input, row_at + min(element, parameters[0].size - 4));                              \
    } else {                                                                                                 \
      [loop]                                                                                                 \
      for (uint part = 0; part < 4; ++part) {                                                                \
        const uint at = min(element + part, parameters[0].size - 1);                                         \
        const float number = load_real(input, row_at + at * parameters[0].element_strides[slot], type);      \
        result = float4(result.yzw, number);                                                                 \
      }                                                                                                      \
    }                                                                                                        \
    return result;                                                                                           \
  }
FOUR_OF(four_of_query, 1, QUERY, QUERY_TYPE, size)
FOUR_OF(four_of_key, 2, KEY, KEY_TYPE, size)
FOUR_OF(four_of_value, 3, VALUE, VALUE_TYPE, value_size)

// Zeros in place of elements from `size` on.
float4 elements_inside(float4 four, uint element, uint size) {
  return float4(element < size ? four.x : 0.0f, element + 1 < size ? four.y : 0.0f, element + 2 < size ? four.z : 0.0f,
                element + 3 < size ? four.w : 0.0f);
}

// Four elements of four rows.
struct Square {
  float4 a, b, c, d;
};

Square square_inside(Square square, uint element, uint size) {
  square.a = elements_inside(square.a, element, size);
  square.b = elements_inside(square.b, element, size);
  square.c = elements_inside(square.c, element, size);
  square.d = elements_inside(square.d, element, size);
  return square;
}

// A thread loads a square of each slice of queries, and each of the first ones a square of keys. Rows behind the last are
// the last.
#define KEY_SQUARES (COLUMNS * SLICE / 16)

uint vector_of_square(uint lane) { return lane / 4; }
uint depth_of_square(uint lane) { return lane % 4 * 4; }

// Where the four rows of a square begin in a tensor.
uint4 rows_of_square(uint lane, uint head_at, uint row_stride, uint first_row, uint rows) {
  return head_at + row_stride * min(first_row + 4 * vector_of_square(lane) + uint4(0, 1, 2, 3), rows - 1);
}

#define SQUARE_OF(name, four_of)              \
  Square name(uint4 rows, uint element) {     \
    Square square;                            \
    square.a = four_of(rows.x, element);      \
    square.b = four_of(rows.y, element);      \
    square.c = four_of(rows.z, element);      \
    square.d = four_of(rows.w, element);      \
    return square;                            \
  }
SQUARE_OF(load_queries, four_of_query)
SQUARE_OF(load_keys, four_of_key)

// Where vectors of a slice stand: swapped so that threads that store together do so in different banks.
uint query_at(uint buffer, uint depth, uint vector_) {
  return buffer * SLICE_VECTORS + depth * ROW_VECTORS + (vector_ ^ (depth / 4 * 2));
}
uint power_at(uint buffer, uint k, uint vector_) {
  return buffer * SLICE_VECTORS + k * ROW_VECTORS + (vector_ ^ (k % RIGHT));
}
uint key_at(uint buffer, uint depth, uint vector_) {
  return buffer * SLICE_VECTORS + LEFT_VECTORS + depth * COLUMN_VECTORS + (vector_ ^ (depth / 4 * 2));
}
uint value_at(uint buffer, uint k, uint vector_) {
  return buffer * SLICE_VECTORS + LEFT_VECTORS + k * COLUMN_VECTORS + vector_;
}

void store_square(Square square, uint at, uint pitch) {
  const float4 a = square.a, b = square.b, c = square.c, d = square.d;
  slices[at] = float4(a.x, b.x, c.x, d.x);
  slices[at + pitch] = float4(a.y, b.y, c.y, d.y);
  slices[at + 2 * pitch] = float4(a.z, b.z, c.z, d.z);
  slices[at + 3 * pitch] = float4(a.w, b.w, c.w, d.w);
}

// Four elements of two values.
struct Values {
  float4 a, b;
};

// A slice of values is of each fourth key of a tile, so that all threads have powers of it. A thread has two of them.
uint2 keys_of_values(uint lane, uint first_key, uint slice) {
  const uint k = lane / COLUMN_VECTORS;
  return first_key + slice + SLICES * uint2(k, k + SLICE / 2);
}

Values load_values(Block block, uint lane, uint2 keys) {
  const uint head_at = offset_at(VALUE, block.batch, block.head / parameters[0].group, 0);
  const uint2 rows = head_at + parameters[0].row_strides[VALUE] * min(keys, parameters[0].keys - 1);
  const uint element = block.first_value + lane % COLUMN_VECTORS * 4;
  Values values;
  values.a = four_of_value(rows.x, element);
  values.b = four_of_value(rows.y, element);
  return values;
}

// Behind the last key, where powers are 0, values are 0, too: 0 times infinity is not 0.
Values values_inside(Values values, uint2 keys) {
  const float4 none = float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (keys.x >= parameters[0].keys) values.a = none;
  if (keys.y >= parameters[0].keys) values.b = none;
  return values;
}

void store_values(Values values, uint lane, uint buffer) {
  const uint at = value_at(buffer, lane / COLUMN_VECTORS, lane % COLUMN_VECTORS);
  slices[at] = values.a;
  slices[at + SLICE / 2 * COLUMN_VECTORS] = values.b;
}

float4 larger_numbers(float4 a, float4 b) {
  return float4(larger_number(a.x, b.x), larger_number(a.y, b.y), larger_number(a.z, b.z), larger_number(a.w, b.w));
}
float largest_of(float4 a) { return larger_number(larger_number(a.x, a.y), larger_number(a.z, a.w)); }
float sum_of(float4 a) { return (a.x + a.y) + (a.z + a.w); }

// Scores of four keys; none for those that do not count.
float4 scores_of_keys(float4 scores, uint key, uint counted) {
  const uint last = counted - 1;
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
  return scores_of_keys(scores, key, counted_keys(at.batch, at.query));
}

// The threads that share the queries of a thread leave their numbers of them side by side, in a slice that is free.
uint number_at(uint buffer, uint vector_, uint column) { return buffer * SLICE_VECTORS + vector_ * RIGHT + column; }

void leave_numbers(uint buffer, uint row, uint column, float4 low, float4 high) {
  slices[number_at(buffer, row, column)] = low;
  slices[number_at(buffer, row + HIGH, column)] = high;
}

float4 largest_numbers(uint buffer, uint vector_) {
  float4 largest = slices[number_at(buffer, vector_, 0)];
  UNROLLED
  for (uint i = 1; i < RIGHT; ++i) largest = larger_numbers(largest, slices[number_at(buffer, vector_, i)]);
  return largest;
}

float4 sums_of_numbers(uint buffer, uint vector_) {
  float4 sums = slices[number_at(buffer, vector_, 0)];
  UNROLLED
  for (uint i = 1; i < RIGHT; ++i) sums += slices[number_at(buffer, vector_, i)];
  return sums;
}

float4 factors_of(float4 before, float4 largest) {
  return float4(largest.x == before.x ? 1.0f : exp(before.x - largest.x), largest.y == before.y ? 1.0f : exp(before.y - largest.y),
                largest.z == before.z ? 1.0f : exp(before.z - largest.z), largest.w == before.w ? 1.0f : exp(before.w - largest.w));
}

// Stores four elements of the result of a query.
void store_four(Block block, uint row, uint element, float4 numbers) {
  const uint query = block.first_query + row, value_size = parameters[0].value_size;
  if (query >= parameters[0].queries || element >= value_size) return;
  const uint position = (block.batch * parameters[0].queries + query) * parameters[0].heads + block.head;
  const uint at = position * value_size + element;
  if (OUTPUT_TYPE == FLOAT32) {
    store_words(at, 4, asuint(numbers));
  } else {
    store_words(at / 2, 2, uint4(half_bits(numbers.x) | half_bits(numbers.y) << 16, half_bits(numbers.z) | half_bits(numbers.w) << 16, 0, 0));
  }
}

// Where a thread keeps products of its own, to go over them in a loop.
uint own_at(uint lane, uint i) { return i * GROUP_SIZE + lane; }
uint row_of(uint row, uint i) { return (row + i / 4 * HIGH) * 4 + i % 4; }

#define EACH_ROW(DO) DO(0, low, x) DO(1, low, y) DO(2, low, z) DO(3, low, w) DO(4, high, x) DO(5, high, y) DO(6, high, z) DO(7, high, w)
#define DECLARE(i, half_, part) float4 left##i = float4(0, 0, 0, 0), right##i = float4(0, 0, 0, 0);
#define DECLARE_SCORES(i, half_, part) float4 left_scores##i = float4(0, 0, 0, 0), right_scores##i = float4(0, 0, 0, 0);
#define MULTIPLY(i, half_, part) left_scores##i += half_##_queries.part * left_keys; right_scores##i += half_##_queries.part * right_keys;
#define LEAVE_LEFT_SCORES(i, half_, part) slices[own_at(lane, i)] = left_scores##i;
#define LEAVE_RIGHT_SCORES(i, half_, part) slices[own_at(lane, i)] = right_scores##i;
#define TAKE_LEFT_SCORES(i, half_, part) left_scores##i = slices[own_at(lane, i)];
#define TAKE_RIGHT_SCORES(i, half_, part) right_scores##i = slices[own_at(lane, i)];
#define SCALE_SCORES(i, half_, part) left_scores##i *= parameters[0].scale; right_scores##i *= parameters[0].scale;
#define END_SCORES(i, half_, part) \
  left_scores##i = scores_of_keys(left_scores##i, first_key + column * 4, key_count); \
  right_scores##i = scores_of_keys(right_scores##i, first_key + (column + RIGHT) * 4, key_count);
#define FIND_LARGEST(i, half_, part) half_##_tile.part = largest_of(larger_numbers(left_scores##i, right_scores##i));
#define MAKE_POWERS(i, half_, part) { \
    const float shift = half_##_largest.part == -infinity() ? 0.0f : half_##_largest.part; \
    left_scores##i = exp(left_scores##i - shift); \
    right_scores##i = exp(right_scores##i - shift); \
    half_##_sums.part = half_##_sums.part * half_##_factors.part + (sum_of(left_scores##i) + sum_of(right_scores##i)); \
    left##i *= half_##_factors.part; \
    right##i *= half_##_factors.part; \
  }
#define STORE_SIDE(side, k, part) \
  slices[power_at(buffer, k, row)] = float4(side##_scores0.part, side##_scores1.part, side##_scores2.part, side##_scores3.part); \
  slices[power_at(buffer, k, row + HIGH)] = float4(side##_scores4.part, side##_scores5.part, side##_scores6.part, side##_scores7.part);
#define STORE_POWERS(part) { STORE_SIDE(left, column, part) STORE_SIDE(right, column + RIGHT, part) }
#define ADD_VALUES(i, half_, part) left##i += half_##_powers.part * left_values; right##i += half_##_powers.part * right_values;
// The same where a query may not count a key, whose value may be infinite or NaN: 0 times that is NaN.
#define ADD_COUNTED_VALUES(i, half_, part) \
  if (half_##_powers.part != 0.0f) { left##i += half_##_powers.part * left_values; right##i += half_##_powers.part * right_values; }
// The powers of a key of a slice, and its values.
#define TAKE_POWERS_AND_VALUES(k) \
  const float4 low_powers = slices[power_at(buffer, k, row)]; \
  const float4 high_powers = slices[power_at(buffer, k, row + HIGH)]; \
  const float4 left_values = slices[value_at(buffer, k, column)]; \
  const float4 right_values = slices[value_at(buffer, k, column + RIGHT)];
#define LEAVE_LEFT(i, half_, part) slices[own_at(lane, i)] = left##i / half_##_sums.part;
#define LEAVE_RIGHT(i, half_, part) slices[own_at(lane, i)] = right##i / half_##_sums.part;

// The scores of products with vector `column` of the keys that a thread keeps.
void finish_scores(Block block, uint lane, uint row, uint first_key, uint column) {
  [loop]
  for (uint i = 0; i < 8; ++i)
    slices[own_at(lane, i)] = scores_of(slices[own_at(lane, i)], block, row_of(row, i), first_key + column * 4);
}

void store_results(Block block, uint lane, uint row, uint column) {
  [loop]
  for (uint i = 0; i < 8; ++i) store_four(block, row_of(row, i), block.first_value + column * 4, slices[own_at(lane, i)]);
}

void attend(uint group, uint lane) {
  const Block block = block_of(group);
  const uint row = lane / RIGHT, column = lane % RIGHT;  // vectors, those of the other half are HIGH and RIGHT further
  const uint size = parameters[0].size, depth = depth_of_square(lane);
  const uint last_query = min(block.first_query + QUERIES, parameters[0].queries) - 1;
  const uint key_count = KEYS_OF_GROUP(counted_keys(block.batch, last_query));
  const uint keys_of_all = counted_keys(block.batch, block.first_query);
  const uint key_head_at = offset_at(KEY, block.batch, block.head / parameters[0].group, 0);
  const uint4 query_rows = rows_of_square(lane, offset_at(QUERY, block.batch, block.head, 0), parameters[0].row_strides[QUERY],
                                          block.first_query, parameters[0].queries);
  EACH_ROW(DECLARE)
  float4 low_largest = float4(0, 0, 0, 0) - infinity(), high_largest = low_largest;
  float4 low_sums = float4(0, 0, 0, 0), high_sums = low_sums;
  uint buffer = 0;
  for (uint first_key = 0; first_key < key_count; first_key += COLUMNS) {
    EACH_ROW(DECLARE_SCORES)
    const uint4 key_rows = rows_of_square(lane % KEY_SQUARES, key_head_at, parameters[0].row_strides[KEY], first_key, key_count);
    Square queries = load_queries(query_rows, depth), keys = queries;
    if (lane < KEY_SQUARES) keys = load_keys(key_rows, depth);
    for (uint begin = 0; begin < size; begin += SLICE) {
      if (begin + SLICE > size) {
        queries = square_inside(queries, begin + depth, size);
        keys = square_inside(keys, begin + depth, size);
      }
      store_square(queries, query_at(buffer, depth, vector_of_square(lane)), ROW_VECTORS);
      if (lane < KEY_SQUARES) store_square(keys, key_at(buffer, depth, vector_of_square(lane)), COLUMN_VECTORS);
      GroupMemoryBarrierWithGroupSync();
      if (begin + SLICE < size) {
        queries = load_queries(query_rows, begin + SLICE + depth);
        if (lane < KEY_SQUARES) keys = load_keys(key_rows, begin + SLICE + depth);
      }
      UNROLLED
      for (uint d = 0; d < SLICE; ++d) {
        const float4 low_queries = slices[query_at(buffer, d, row)];
        const float4 high_queries = slices[query_at(buffer, d, row + HIGH)];
        const float4 left_keys = slices[key_at(buffer, d, column)];
        const float4 right_keys = slices[key_at(buffer, d, column + RIGHT)];
        EACH_ROW(MULTIPLY)
      }
      buffer = 1 - buffer;
    }
    Values values = load_values(block, lane, keys_of_values(lane, first_key, 0));
    if (MASK != 0 || BIAS_TYPE != 0 || IS_CUT(first_key, keys_of_all)) {
      GroupMemoryBarrierWithGroupSync();
      EACH_ROW(LEAVE_LEFT_SCORES)
      finish_scores(block, lane, row, first_key, column);
      EACH_ROW(TAKE_LEFT_SCORES)
      EACH_ROW(LEAVE_RIGHT_SCORES)
      finish_scores(block, lane, row, first_key, column + RIGHT);
      EACH_ROW(TAKE_RIGHT_SCORES)
      GroupMemoryBarrierWithGroupSync();
    } else {
      EACH_ROW(SCALE_SCORES)
      if (first_key + COLUMNS > key_count) { EACH_ROW(END_SCORES) }
    }
    float4 low_tile, high_tile;
    EACH_ROW(FIND_LARGEST)
    leave_numbers(buffer, row, column, low_tile, high_tile);
    GroupMemoryBarrierWithGroupSync();
    low_tile = larger_numbers(low_largest, largest_numbers(buffer, row));
    high_tile = larger_numbers(high_largest, largest_numbers(buffer, row + HIGH));
    const float4 low_factors = factors_of(low_largest, low_tile), high_factors = factors_of(high_largest, high_tile);
    low_largest = low_tile;
    high_largest = high_tile;
    EACH_ROW(MAKE_POWERS)
    for (uint slice = 0; slice < SLICES; ++slice) {
      buffer = 1 - buffer;
      if (slice == 0) STORE_POWERS(x)
      if (slice == 1) STORE_POWERS(y)
      if (slice == 2) STORE_POWERS(z)
      if (slice == 3) STORE_POWERS(w)
      if (first_key + COLUMNS > key_count) values = values_inside(values, keys_of_values(lane, first_key, slice));
      store_values(values, lane, buffer);
      GroupMemoryBarrierWithGroupSync();
      if (slice + 1 < SLICES) values = load_values(block, lane, keys_of_values(lane, first_key, slice + 1));
      if (IS_CUT(first_key, keys_of_all)) {
        [loop]
        for (uint c = 0; c < SLICE; ++c) {
          TAKE_POWERS_AND_VALUES(c)
          EACH_ROW(ADD_COUNTED_VALUES)
        }
      } else {
        UNROLLED
        for (uint k = 0; k < SLICE; ++k) {
          TAKE_POWERS_AND_VALUES(k)
          EACH_ROW(ADD_VALUES)
        }
      }
    }
    buffer = 1 - buffer;
  }
  leave_numbers(buffer, row, column, low_sums, high_sums);
  GroupMemoryBarrierWithGroupSync();
  low_sums = sums_of_numbers(buffer, row);
  high_sums = sums_of_numbers(buffer, row + HIGH);
  GroupMemoryBarrierWithGroupSync();
  EACH_ROW(LEAVE_LEFT)
  store_results(block, lane, row, column);
  EACH_ROW(LEAVE_RIGHT)
  store_results(block, lane, row, column + RIGHT);
}

void run(uint thread, uint lane) { attend(thread / THREADS_OF_LAUNCH, lane); }
