// Attention of FLOAT16 (attention_tiles.hlsl) by cooperative matrices, as in product_matrices.comp. Queries, keys and values
// have at most SIZE elements, in eights that begin at multiples of 16 bytes.
//
// A subgroup has ROWS queries of a head. The keys and values of all subgroups of a group pass through shared memory in
// tiles of KEYS. Scores and powers stay in the registers of a subgroup.
//
// Powers are FLOAT32. Each is the sum of two numbers of FLOAT16, both of which are multiplied by the values, so that
// nothing is rounded to FLOAT16 but the result. They are relative to a score of their row that is hardly less than the
// largest one so far: only where a score is much larger does a row get another, and what was added up before is scaled.
//
// Which elements of a matrix a thread has is not specified, so each finds out at first.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifndef EMULATED
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_vote : require
#endif

#include "parameters/attention.hlsli"

layout(std430, binding = 0) readonly buffer Parameters { AttentionParameters parameters[1]; };
layout(std430, binding = 1) readonly buffer Queries { uvec4 query_vectors[]; };
layout(std430, binding = 2) readonly buffer Keys { uvec4 key_vectors[]; };
layout(std430, binding = 3) readonly buffer Values { uvec4 value_vectors[]; };
layout(std430, binding = 4) readonly buffer Input4 { uint input4[]; };
layout(std430, binding = 5) readonly buffer Input5 { uint input5[]; };
layout(std430, binding = 6) readonly buffer Input6 { uint input6[]; };
layout(std430, binding = 9) writeonly buffer Outputs { uvec4 outputs[]; };
layout(push_constant) uniform Launch { uvec4 launch; };  // as in elements.hlsli

#define SPECIALIZED(number, name) layout(constant_id = number) const uint name = 0;
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) const uint name = number;
#include "data_types.def"

uint load_word(uint buffer_, uint at) { return buffer_ == 4 ? input4[at] : buffer_ == 5 ? input5[at] : input6[at]; }

float load_real(uint buffer_, uint at, uint type) {
  const uint bits = load_word(buffer_, type == FLOAT32 ? at : at / 2);
  if (type == FLOAT32) return uintBitsToFloat(bits);
  const vec2 pair = unpackHalf2x16(bits);
  return at % 2 == 0 ? pair.x : pair.y;
}

#include "attention_scores.hlsli"

#define THREADS_OF_LAUNCH 256  // so many are counted for a group, however many it has
#define GROUPS_PER_ROW 65535
#define SUBGROUP 32
#define GROUP_SIZE (SUBGROUPS * SUBGROUP)
#define QUERIES (SUBGROUPS * ROWS)
layout(local_size_x = GROUP_SIZE) in;

#define LINE (SIZE / 8)      // vectors of 8 elements
#define PITCH (LINE + 1)     // so that neighboring lines are in different banks
#define TILE_VECTORS (KEYS * PITCH)
#define LOADS ((KEYS * LINE + GROUP_SIZE - 1) / GROUP_SIZE)  // of a thread, of keys and of values
#define ROW_BLOCKS (ROWS / 16)
#define DEPTH_BLOCKS (SIZE / 16)
#define STEP 2               // blocks of 16 keys that are computed together
#define ELEMENTS 8           // of a matrix in a thread
#define SQUARE_PITCH 5       // a matrix of 16x16 numbers in shared memory, in vectors of 4
#define SQUARE_VECTORS (16 * SQUARE_PITCH)
#define SQUARES_AT (4 * TILE_VECTORS)
// Whether values were left out (without_specials()): behind the last row of the first of these matrices, because a few
// bytes more of shared memory take half of the speed.
#define HAS_SPECIALS vectors[SQUARES_AT + SQUARE_VECTORS - 1].x
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
// Two tiles of keys and values, one of which is filled while the other is multiplied, and a matrix of each subgroup.
#define TILES_VECTORS (SQUARES_AT + SUBGROUPS * SQUARE_VECTORS)
#define QUERY_VECTORS (QUERIES * PITCH)
#ifdef EMULATED
#define QUERIES_AT TILES_VECTORS
shared uvec4 vectors[TILES_VECTORS + QUERY_VECTORS];
#else
#define QUERIES_AT 0  // before the tiles are filled
shared uvec4 vectors[LARGER(TILES_VECTORS, QUERY_VECTORS)];
#endif
shared float row_shifts[QUERIES];
shared float row_factors[QUERIES];

#define NONE uintBitsToFloat(0xFF800000u)  // a score that is less than all others
const float log2_of_e = 1.44269504;
// In powers of two. The largest powers, 2^(room + most_above), still are numbers of FLOAT16, and small ones are far
// from its least ones.
const float room = 6.0, most_above = 8.0;

uint subgroup_lane() { return gl_LocalInvocationIndex % SUBGROUP; }
uint subgroup_index() { return gl_LocalInvocationIndex / SUBGROUP; }
uint square_at() { return SQUARES_AT + subgroup_index() * SQUARE_VECTORS; }

// --- matrices of 16x16

#ifdef EMULATED
#define UNROLL [[dont_unroll]]
struct Factor { uint at, pitch; bool is_by_column; };
struct Sums { float numbers[ELEMENTS]; };
#define ELEMENT(sums, e) sums.numbers[e]
#define SUBGROUP_BARRIER barrier()
#define LOAD_FACTOR(factor, at, pitch, is_by_column) factor = Factor(at, pitch, is_by_column)
#define ADD_PRODUCT(sums, left, right) add_product(sums, left, right)
#define LOAD_SUMS(sums, at, pitch) load_sums(sums, at, pitch)
#define STORE_SUMS(sums, at, pitch) store_sums(sums, at, pitch)
#define TO_FACTOR(sums, which) factor_of(sums, which)
#define REST_OF(sums, factor) rest_of(sums, factor)

shared uint votes;

bool any_of_subgroup(bool vote) {
  barrier();
  if (gl_LocalInvocationIndex == 0) votes = 0;
  barrier();
  if (vote) atomicOr(votes, 1);
  barrier();
  return votes != 0;
}

float factor_element(Factor factor, uint row, uint column) {
  const uint line = factor.is_by_column ? column : row;
  const uint place = factor.is_by_column ? row : column;
  const vec2 pair = unpackHalf2x16(vectors[factor.at + line * factor.pitch + place / 8][place % 8 / 2]);
  return place % 2 == 0 ? pair.x : pair.y;
}

void add_product(inout Sums sums, Factor left, Factor right) {
  for (uint e = 0; e < ELEMENTS; ++e) {
    const uint row = subgroup_lane() / 2, column = subgroup_lane() % 2 * 8 + e;
    for (uint k = 0; k < 16; ++k) sums.numbers[e] += factor_element(left, row, k) * factor_element(right, k, column);
  }
}

uint place_of(uint at, uint pitch, uint e) { return at + subgroup_lane() / 2 * pitch + subgroup_lane() % 2 * 2 + e / 4; }

void load_sums(out Sums sums, uint at, uint pitch) {
  for (uint e = 0; e < ELEMENTS; ++e) sums.numbers[e] = uintBitsToFloat(vectors[place_of(at, pitch, e)][e % 4]);
}

void store_sums(Sums sums, uint at, uint pitch) {
  for (uint e = 0; e < ELEMENTS; ++e) vectors[place_of(at, pitch, e)][e % 4] = floatBitsToUint(sums.numbers[e]);
}

// A subgroup has room for two such factors.
Factor factor_of(Sums sums, uint which) {
  const uint at = square_at() + which * 32;
  barrier();
  vectors[at + subgroup_lane()] =
      uvec4(packHalf2x16(vec2(sums.numbers[0], sums.numbers[1])), packHalf2x16(vec2(sums.numbers[2], sums.numbers[3])),
            packHalf2x16(vec2(sums.numbers[4], sums.numbers[5])), packHalf2x16(vec2(sums.numbers[6], sums.numbers[7])));
  barrier();
  return Factor(at, 2, false);
}

// Sums less the factor that was made of them. The factor is read from memory: a compiler may skip the conversion of a
// float to FLOAT16 and back.
Sums rest_of(Sums sums, Factor factor) {
  for (uint e = 0; e < ELEMENTS; ++e)
    sums.numbers[e] -= factor_element(factor, subgroup_lane() / 2, subgroup_lane() % 2 * 8 + e);
  return sums;
}

Sums no_sums() {
  Sums sums;
  for (uint e = 0; e < ELEMENTS; ++e) sums.numbers[e] = 0.0;
  return sums;
}
#else
#define UNROLL [[unroll]]  // matrices in arrays are in registers only if all their indices are known
#define Factor fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define Sums fcoopmatNV<32, gl_ScopeSubgroup, 16, 16>
#define ELEMENT(sums, e) sums[e]
#define SUBGROUP_BARRIER subgroupBarrier()
#define LOAD_FACTOR(factor, at, pitch, is_by_column) coopMatLoadNV(factor, vectors, at, pitch, is_by_column)
#define ADD_PRODUCT(sums, left, right) sums = coopMatMulAddNV(left, right, sums)
#define LOAD_SUMS(sums, at, pitch) coopMatLoadNV(sums, vectors, at, pitch, false)
#define STORE_SUMS(sums, at, pitch) coopMatStoreNV(sums, vectors, at, pitch, false)
#define TO_FACTOR(sums, which) Factor(sums)
#define REST_OF(sums, factor) sums - Sums(factor)
#define any_of_subgroup(vote) subgroupAny(vote)
#define no_sums() Sums(0.0)
#endif

// --- rows

// What a group computes.
struct Block {
  uint batch, head, first_query;
};

Block block_of(uint group) {
  const uint tiles = (parameters[0].queries + QUERIES - 1) / QUERIES;
  Block block;
  const uint all_heads = group / tiles;
  block.first_query = (group - all_heads * tiles) * QUERIES;
  block.batch = all_heads / parameters[0].heads;
  block.head = all_heads - block.batch * parameters[0].heads;
  return block;
}

// The eight elements of a row that a thread loads, where there are any; `first` is that of the head.
#define LOAD_VECTOR(result, buffer_, tensor, first, row, rows, size)                                 \
  {                                                                                                  \
    const bool is_inside = (row) < (rows) && v % LINE * 8 < (size);                                  \
    const uint at = (first) + (row) * parameters[0].row_strides[tensor] + v % LINE * 8;              \
    result = buffer_[is_inside ? at / 8 : 0];                                                        \
    if (!is_inside) result = uvec4(0);                                                               \
  }

// A score in powers of two. Filters may be the least number of FLOAT32, which must not become infinite.
float masked_score(float product, Row at, uint key) {
  const float score = score_of(product, at, key);
  return score == NONE ? NONE : max(score * log2_of_e, -3.0e38);
}

// Eight numbers, 0 in place of what is infinite or NaN: 0 times that, for a query that does not count a key, is NaN.
uvec4 without_specials(uvec4 halves) {
  const uvec4 exponent = uvec4(0x7C00u);
  const uvec4 low = mix(uvec4(0xFFFFu), uvec4(0), equal(halves & exponent, exponent));
  const uvec4 high = mix(uvec4(0xFFFF0000u), uvec4(0), equal(halves >> 16 & exponent, exponent));
  return halves & (low | high);
}

vec4 numbers_of(uvec2 halves) { return vec4(unpackHalf2x16(halves.x), unpackHalf2x16(halves.y)); }

// Adds what was left out of the values that a query counts to eight elements of its result, from tile `first_key` on.
void add_specials(Block block, uint query, uint column, uint first_key, inout vec4 left, inout vec4 right) {
  const uint at = offset_at(VALUE, block.batch, block.head / parameters[0].group, 0) + column;
  for (uint key = first_key; key < counted_keys(block.batch, query); ++key) {
    const uvec4 values = value_vectors[(at + key * parameters[0].row_strides[VALUE]) / 8];
    const uvec4 specials = values ^ without_specials(values);
    left += numbers_of(specials.xy);
    right += numbers_of(specials.zw);
  }
}

float largest_of(vec4 a) { return max(max(a.x, a.y), max(a.z, a.w)); }

void attend(Block block) {
  const uint thread = gl_LocalInvocationIndex, lane = subgroup_lane(), first_row = subgroup_index() * ROWS;
  const uint key_head = block.head / parameters[0].group;
  const uint queries_at = offset_at(QUERY, block.batch, block.head, 0);
  const uint keys_at = offset_at(KEY, block.batch, key_head, 0);
  const uint values_at = offset_at(VALUE, block.batch, key_head, 0);
  const uint size = parameters[0].size, value_size = parameters[0].value_size;
  // Each query counts one key more than the one before, where there are lengths.
  const uint key_count = counted_keys(block.batch, min(block.first_query + QUERIES, parameters[0].queries) - 1);
  const uint keys_of_all = counted_keys(block.batch, block.first_query);
  for (uint v = thread; v < QUERIES * LINE; v += GROUP_SIZE) {
    const uint query = block.first_query + v / LINE;
    LOAD_VECTOR(vectors[QUERIES_AT + v / LINE * PITCH + v % LINE], query_vectors, QUERY, queries_at, query,
                parameters[0].queries, size)
  }
  barrier();
  Factor queries[ROW_BLOCKS][DEPTH_BLOCKS];
  UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
    UNROLL for (uint d = 0; d < DEPTH_BLOCKS; ++d)
      LOAD_FACTOR(queries[i][d], QUERIES_AT + (first_row + i * 16) * PITCH + d * 2, PITCH, false);
  }
  barrier();
  // Where a thread's elements are.
  if (lane < 16) {
    for (uint c = 0; c < 16; ++c)
      vectors[square_at() + lane * SQUARE_PITCH + c / 4][c % 4] = floatBitsToUint(float(lane * 16 + c));
  }
  for (uint row = lane; row < ROWS; row += SUBGROUP) row_shifts[first_row + row] = NONE;
  if (thread == 0) HAS_SPECIALS = 0;
  barrier();
  uint row_of[ELEMENTS], column_of[ELEMENTS];
  Sums places;
  LOAD_SUMS(places, square_at(), SQUARE_PITCH);
  UNROLL for (uint e = 0; e < ELEMENTS; ++e) {
    row_of[e] = uint(ELEMENT(places, e)) / 16;
    column_of[e] = uint(ELEMENT(places, e)) % 16;
  }
  Sums sums[ROW_BLOCKS][DEPTH_BLOCKS];
  float totals[ROW_BLOCKS][ELEMENTS], shifts[ROW_BLOCKS][ELEMENTS];  // of powers, and what their scores are relative to
  UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
    UNROLL for (uint d = 0; d < DEPTH_BLOCKS; ++d) sums[i][d] = no_sums();
    UNROLL for (uint e = 0; e < ELEMENTS; ++e) {
      totals[i][e] = 0.0;
      shifts[i][e] = NONE;
    }
  }
  uvec4 next_keys[LOADS], next_values[LOADS];
  uint buffer_ = 0;
  // Each round loads a tile while it multiplies the one before.
  for (uint first_load = 0; first_load < key_count + KEYS; first_load += KEYS) {
    if (first_load > 0) {
      UNROLL for (uint i = 0; i < LOADS; ++i) {
        const uint v = thread + i * GROUP_SIZE, at = buffer_ + v / LINE * PITCH + v % LINE;
        if (v >= KEYS * LINE) continue;
        uvec4 values = next_values[i];
        if (LENGTHS_BUFFER != 0 && first_load > keys_of_all) {
          values = without_specials(values);
          if (values != next_values[i]) HAS_SPECIALS = 1;
        }
        vectors[at] = next_keys[i];
        vectors[at + TILE_VECTORS] = values;
      }
    }
    barrier();
    UNROLL for (uint i = 0; i < LOADS; ++i) {
      const uint v = thread + i * GROUP_SIZE, key = first_load + v / LINE;
      LOAD_VECTOR(next_keys[i], key_vectors, KEY, keys_at, key, key_count, size)
      LOAD_VECTOR(next_values[i], value_vectors, VALUE, values_at, key, key_count, value_size)
    }
    if (first_load == 0) continue;
    const uint first_key = first_load - KEYS;
    const bool is_cut = LENGTHS_BUFFER != 0 && first_key + KEYS > keys_of_all;
    UNROLL for (uint j = 0; j < KEYS / 16; j += STEP) {
      Sums scores[STEP][ROW_BLOCKS];
      UNROLL for (uint t = 0; t < STEP; ++t) {
        UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) scores[t][i] = no_sums();
      }
      UNROLL for (uint d = 0; d < DEPTH_BLOCKS; ++d) {
        UNROLL for (uint t = 0; t < STEP; ++t) {
          Factor keys;
          LOAD_FACTOR(keys, buffer_ + (j + t) * 16 * PITCH + d * 2, PITCH, true);
          UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) ADD_PRODUCT(scores[t][i], queries[i][d], keys);
        }
      }
      bool is_larger = false;
      UNROLL for (uint t = 0; t < STEP; ++t) {
        UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
          UNROLL for (uint e = 0; e < ELEMENTS; ++e) {
            float score = ELEMENT(scores[t][i], e);
            const uint key = first_key + (j + t) * 16 + column_of[e];
            if (MASK != 0 || BIAS_TYPE != 0) {
              Row at;
              at.batch = block.batch;
              at.head = block.head;
              at.query = min(block.first_query + first_row + i * 16 + row_of[e], parameters[0].queries - 1);
              score = masked_score(score, at, min(key, key_count - 1));
            } else {
              score *= parameters[0].scale * log2_of_e;
            }
            if (first_key + KEYS > key_count && key >= key_count) score = NONE;
            if (is_cut && key >= keys_of_all + first_row + i * 16 + row_of[e]) score = NONE;
            is_larger = is_larger || score > shifts[i][e] + (room + most_above);
            ELEMENT(scores[t][i], e) = score;
          }
        }
      }
      if (any_of_subgroup(is_larger)) {
        UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
          const uint row = first_row + i * 16 + lane % 16;
          float largest = NONE;
          UNROLL for (uint t = 0; t < STEP; ++t) {
            STORE_SUMS(scores[t][i], square_at(), SQUARE_PITCH);
            SUBGROUP_BARRIER;
            for (uint k = 0; k < 4; ++k)
              largest = max(largest, largest_of(uintBitsToFloat(vectors[square_at() + lane % 16 * SQUARE_PITCH + k])));
            SUBGROUP_BARRIER;
          }
          if (lane < 16) {
            const float before = row_shifts[row], shift = max(before, largest - room);
            row_shifts[row] = shift;
            row_factors[row] = shift == before ? 1.0 : exp2(before - shift);
          }
        }
        SUBGROUP_BARRIER;
        UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
          UNROLL for (uint e = 0; e < ELEMENTS; ++e) {
            const uint row = first_row + i * 16 + row_of[e];
            const float factor = row_factors[row];
            shifts[i][e] = row_shifts[row];
            totals[i][e] *= factor;
            UNROLL for (uint d = 0; d < DEPTH_BLOCKS; ++d) ELEMENT(sums[i][d], e) *= factor;
          }
        }
        SUBGROUP_BARRIER;
      }
      UNROLL for (uint t = 0; t < STEP; ++t) {
        Factor high[ROW_BLOCKS], low[ROW_BLOCKS];
        UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
          // The first part is less than the power, so that no part is 0, and an infinite value gives no NaN.
          Sums parts = no_sums();
          UNROLL for (uint e = 0; e < ELEMENTS; ++e) {
            const float score = ELEMENT(scores[t][i], e);
            const float power = score == NONE ? 0.0 : exp2(score - shifts[i][e]);
            totals[i][e] += power;
            ELEMENT(scores[t][i], e) = power;
            ELEMENT(parts, e) = power * (1.0 - 1.0 / 1024.0);
          }
          high[i] = TO_FACTOR(parts, 0);
          low[i] = TO_FACTOR(REST_OF(scores[t][i], high[i]), 1);
        }
        UNROLL for (uint d = 0; d < DEPTH_BLOCKS; ++d) {
          Factor values;
          LOAD_FACTOR(values, buffer_ + TILE_VECTORS + (j + t) * 16 * PITCH + d * 2, PITCH, false);
          UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
            ADD_PRODUCT(sums[i][d], high[i], values);
            ADD_PRODUCT(sums[i][d], low[i], values);
          }
        }
      }
    }
    buffer_ = 2 * TILE_VECTORS - buffer_;
  }
  UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
    SUBGROUP_BARRIER;
    UNROLL for (uint e = 0; e < ELEMENTS; ++e)
      vectors[square_at() + row_of[e] * SQUARE_PITCH + column_of[e] / 4][column_of[e] % 4] = floatBitsToUint(totals[i][e]);
    SUBGROUP_BARRIER;
    // A thread has eight columns of a row.
    const uint row = lane / 2, at = square_at() + row * SQUARE_PITCH;
    vec4 total = vec4(0.0);
    for (uint k = 0; k < 4; ++k) total += uintBitsToFloat(vectors[at + k]);
    const float sum = (total.x + total.y) + (total.z + total.w);
    const uint query = block.first_query + first_row + i * 16 + row;
    const uint position = (block.batch * parameters[0].queries + query) * parameters[0].heads + block.head;
    UNROLL for (uint d = 0; d < DEPTH_BLOCKS; ++d) {
      SUBGROUP_BARRIER;
      STORE_SUMS(sums[i][d], square_at(), SQUARE_PITCH);
      SUBGROUP_BARRIER;
      const uint column = d * 16 + lane % 2 * 8;
      if (query < parameters[0].queries && column < value_size) {
        vec4 left = uintBitsToFloat(vectors[at + lane % 2 * 2]) / sum;
        vec4 right = uintBitsToFloat(vectors[at + lane % 2 * 2 + 1]) / sum;
        if (LENGTHS_BUFFER != 0 && HAS_SPECIALS != 0) add_specials(block, query, column, keys_of_all / KEYS * KEYS, left, right);
        outputs[(position * value_size + column) / 8] = uvec4(packHalf2x16(left.xy), packHalf2x16(left.zw),
                                                              packHalf2x16(right.xy), packHalf2x16(right.zw));
      }
    }
  }
}

void main() {
  const uint group = launch.x / THREADS_OF_LAUNCH + gl_WorkGroupID.y * GROUPS_PER_ROW + gl_WorkGroupID.x;
  // The last row of groups may have more than there are tiles.
  if (group * THREADS_OF_LAUNCH < launch.y) attend(block_of(group));
}
