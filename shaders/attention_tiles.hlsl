// Attention of many queries without scratch: AttentionKernel (lib/ops/kernels/attention.hpp) with values of at most 128
// elements. A group has TILE queries of a head and takes its keys by tiles; a thread has four queries, and of these
// four scores of a tile and four or eight elements of the output. The powers of the scores are relative to the largest
// score so far: when a tile has a larger one, what was added up before is scaled down.
#include "attention.hlsli"

SPECIALIZED(8, HAS_HIGH)  // values have more than TILE elements

#define TILE 64
#define SLICE 16           // elements of queries and keys, or keys, that pass through groupshared memory together
#define PITCH (TILE + 4)   // so that neighbours are in different banks
#define COLUMNS 16         // threads that share four queries
#define MOST_VALUES 128

groupshared float slice_tile[2 * SLICE * PITCH];  // of queries and keys; or of values; or the largest of rows by column
groupshared float power_tile[TILE * PITCH];       // products, scores and powers by key and query; results at last
groupshared float part_sums[TILE * COLUMNS];      // of the powers of a row, by column
groupshared float row_largest[TILE];
groupshared float row_factor[TILE];

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

// The rows of queries and keys from element `begin` on.
void load_slice(Block block, uint lane, uint first_key, uint begin) {
  const uint depth = lane % SLICE, i = begin + depth;
  [loop]
  for (uint load = 0; load < 4; ++load) {
    const uint side = lane / SLICE + load * (GROUP_SIZE / SLICE);
    const uint query = block.first_query + side, key = first_key + side;
    const bool has_query = i < parameters[0].size && query < parameters[0].queries;
    const bool has_key = i < parameters[0].size && key < parameters[0].keys;
    const uint query_at = offset_at(QUERY, block.batch, block.head, query) + i * parameters[0].element_strides[QUERY];
    const uint key_at =
        offset_at(KEY, block.batch, block.head / parameters[0].group, key) + i * parameters[0].element_strides[KEY];
    const float query_number = load_real(1, has_query ? query_at : 0, QUERY_TYPE);
    const float key_number = load_real(2, has_key ? key_at : 0, KEY_TYPE);
    slice_tile[depth * PITCH + side] = has_query ? query_number : 0.0f;
    slice_tile[(SLICE + depth) * PITCH + side] = has_key ? key_number : 0.0f;
  }
}

// All elements of the values of SLICE keys.
void load_values(Block block, uint lane, uint first_key) {
  for (uint column = lane % TILE; column < (HAS_HIGH != 0 ? 2 * TILE : TILE); column += TILE) {
    [loop]
    for (uint load = 0; load < 4; ++load) {
      const uint row = lane / TILE + load * (GROUP_SIZE / TILE);
      const bool is_inside = first_key + row < parameters[0].keys && column < parameters[0].value_size;
      const uint at = offset_at(VALUE, block.batch, block.head / parameters[0].group, first_key + row) +
                      column * parameters[0].element_strides[VALUE];
      const float number = load_real(3, is_inside ? at : 0, VALUE_TYPE);
      slice_tile[row * MOST_VALUES + column] = is_inside ? number : 0.0f;
    }
  }
}

float4 four_of_slice(uint at) {
  return float4(slice_tile[at], slice_tile[at + 1], slice_tile[at + 2], slice_tile[at + 3]);
}
float4 four_powers(uint at) {
  return float4(power_tile[at], power_tile[at + 1], power_tile[at + 2], power_tile[at + 3]);
}

float larger_number(float a, float b) { return b > a ? b : a; }

// Makes scores of a thread's 16 products, and leaves the largest of each row.
void make_scores(Block block, uint row, uint column, uint first_key) {
  Row at;
  at.batch = block.batch;
  at.head = block.head;
  [loop]
  for (uint i = row; i < row + 4; ++i) {
    at.query = min(block.first_query + i, parameters[0].queries - 1);
    float largest = -infinity();
    [loop]
    for (uint j = column; j < column + 4; ++j) {
      const uint key = first_key + j;
      const float product = power_tile[j * PITCH + i];
      const float number = score_of(product, at, min(key, parameters[0].keys - 1));
      const float score = key < parameters[0].keys ? number : -infinity();
      power_tile[j * PITCH + i] = score;
      largest = larger_number(largest, score);
    }
    slice_tile[i * COLUMNS + column / 4] = largest;
  }
}

// The largest scores of all rows, and what sums so far are multiplied by.
void find_largest(uint lane) {
  if (lane < TILE) {
    const float before = row_largest[lane];
    float largest = before;
    for (uint i = 0; i < COLUMNS; ++i) largest = larger_number(largest, slice_tile[lane * COLUMNS + i]);
    row_largest[lane] = largest;
    row_factor[lane] = largest == before ? 1.0f : fast_exp(before - largest);
  }
}

// Makes powers of a thread's 16 scores, and adds them up.
void make_tile_powers(uint row, uint column) {
  [loop]
  for (uint i = row; i < row + 4; ++i) {
    const float largest = row_largest[i];
    const float shift = largest == -infinity() ? 0.0f : largest;
    float sum = 0.0f;
    [loop]
    for (uint j = column; j < column + 4; ++j) {
      const float power = fast_exp(power_tile[j * PITCH + i] - shift);
      power_tile[j * PITCH + i] = power;
      sum += power;
    }
    const uint at = i * COLUMNS + column / 4;
    part_sums[at] = part_sums[at] * row_factor[i] + sum;
  }
}

float sum_of_row(uint row) {
  float sum = 0.0f;
  for (uint i = 0; i < COLUMNS; ++i) sum += part_sums[row * COLUMNS + i];
  return sum;
}

// Stores TILE elements of the results of a block's queries, from `column` on, that stand in power_tile.
void store_results(Block block, uint lane, uint column) {
  const uint value_size = parameters[0].value_size;
  const uint count = 16 / size_of(OUTPUT_TYPE), vectors = TILE / count;
  for (uint at = lane; at < TILE * vectors; at += GROUP_SIZE) {
    const uint row = at / vectors, first = (at - row * vectors) * count;
    const uint query = block.first_query + row;
    uint4 result = uint4(0, 0, 0, 0);
    for (uint i = 0; i < count; ++i)
      result = with_element(result, i, bits_of_real(power_tile[row * PITCH + first + i], OUTPUT_TYPE), size_of(OUTPUT_TYPE));
    if (query < parameters[0].queries && column + first < value_size) {
      const uint position = (block.batch * parameters[0].queries + query) * parameters[0].heads + block.head;
      output0[(position * value_size + column + first) / count] = result;
    }
  }
}

#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#define DECLARE(i) float4 low##i = float4(0, 0, 0, 0), high##i = float4(0, 0, 0, 0);
#define DECLARE_PRODUCTS(i) float4 products##i = float4(0, 0, 0, 0);
#define MULTIPLY(i) products##i += slice_tile[d * PITCH + row + i] * keys;
#define LEAVE_PRODUCTS(i) \
  power_tile[column * PITCH + row + i] = products##i.x; \
  power_tile[(column + 1) * PITCH + row + i] = products##i.y; \
  power_tile[(column + 2) * PITCH + row + i] = products##i.z; \
  power_tile[(column + 3) * PITCH + row + i] = products##i.w;
#define SCALE(i) low##i *= row_factor[row + i]; high##i *= row_factor[row + i];
#define ADD_VALUES(i, power) low##i += power * low_values; if (HAS_HIGH != 0) high##i += power * high_values;
#define LEAVE_RESULT(i, values) { \
    const float4 result = values##i / sum_of_row(row + i); \
    power_tile[(row + i) * PITCH + column] = result.x; \
    power_tile[(row + i) * PITCH + column + 1] = result.y; \
    power_tile[(row + i) * PITCH + column + 2] = result.z; \
    power_tile[(row + i) * PITCH + column + 3] = result.w; \
  }
#define LEAVE_LOW(i) LEAVE_RESULT(i, low)
#define LEAVE_HIGH(i) LEAVE_RESULT(i, high)

void attend(uint group, uint lane) {
  const Block block = block_of(group);
  const uint row = lane / COLUMNS * 4, column = lane % COLUMNS * 4;
  EACH_ROW(DECLARE)
  if (lane < TILE) row_largest[lane] = -infinity();
  for (uint i = 0; i < 4; ++i) part_sums[(row + i) * COLUMNS + column / 4] = 0.0f;
  for (uint first_key = 0; first_key < parameters[0].keys; first_key += TILE) {
    EACH_ROW(DECLARE_PRODUCTS)
    for (uint begin = 0; begin < parameters[0].size; begin += SLICE) {
      GroupMemoryBarrierWithGroupSync();
      load_slice(block, lane, first_key, begin);
      GroupMemoryBarrierWithGroupSync();
      for (uint d = 0; d < SLICE; ++d) {
        const float4 keys = four_of_slice((SLICE + d) * PITCH + column);
        EACH_ROW(MULTIPLY)
      }
    }
    GroupMemoryBarrierWithGroupSync();
    EACH_ROW(LEAVE_PRODUCTS)
    make_scores(block, row, column, first_key);
    GroupMemoryBarrierWithGroupSync();
    find_largest(lane);
    GroupMemoryBarrierWithGroupSync();
    make_tile_powers(row, column);
    EACH_ROW(SCALE)
    for (uint slice = 0; slice < TILE; slice += SLICE) {
      GroupMemoryBarrierWithGroupSync();
      load_values(block, lane, first_key + slice);
      GroupMemoryBarrierWithGroupSync();
      for (uint k = 0; k < SLICE; ++k) {
        const float4 powers = four_powers((slice + k) * PITCH + row);
        const float4 low_values = four_of_slice(k * MOST_VALUES + column);
        const float4 high_values = four_of_slice(k * MOST_VALUES + TILE + column);
        ADD_VALUES(0, powers.x) ADD_VALUES(1, powers.y) ADD_VALUES(2, powers.z) ADD_VALUES(3, powers.w)
      }
    }
  }
  GroupMemoryBarrierWithGroupSync();
  EACH_ROW(LEAVE_LOW)
  GroupMemoryBarrierWithGroupSync();
  store_results(block, lane, 0);
  if (HAS_HIGH != 0) {
    GroupMemoryBarrierWithGroupSync();
    EACH_ROW(LEAVE_HIGH)
    GroupMemoryBarrierWithGroupSync();
    store_results(block, lane, TILE);
  }
}

void run(uint thread, uint lane) { attend(thread / GROUP_SIZE, lane); }
