// Products of matrices of FLOAT16 (product.hlsl) by cooperative matrices: 16x16 elements that the 32 threads of a
// subgroup hold and multiply together, into sums of FLOAT32. For Vulkan alone; HLSL has none of them.
//
// A group computes a tile of SIDE rows and columns, a subgroup half of its rows and a part of its columns. Slices of DEPTH
// elements of the sums pass through shared memory, one of which is filled while the other is multiplied. Both matrices are read by eights along the axis where their elements
// are neighbours, and lie in shared memory as they do in their buffers.
//
// Stages, parts and scratch are those of product.hlsl; the sums of a part begin at a multiple of four.
//
// With EMULATED, each thread computes its elements of the sums in loops: this is how tests check tiles and edges on a
// device without cooperative matrices.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#ifndef EMULATED
#extension GL_NV_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#endif

#include "parameters/product.hlsli"

layout(constant_id = 0) const uint IS_LEFT_READ_BY_ROW = 0;     // its elements are neighbours along the rows
layout(constant_id = 1) const uint IS_RIGHT_READ_BY_DEPTH = 0;  // likewise along the sum
layout(constant_id = 2) const uint IS_LEFT_ALIGNED = 0;         // its eights begin at multiples of 16 bytes
layout(constant_id = 3) const uint IS_RIGHT_ALIGNED = 0;
layout(constant_id = 4) const uint IS_DIRECT = 0;
layout(constant_id = 5) const uint OUTPUT_TYPE = 0;
layout(constant_id = 6) const uint TYPE_ADDED = 0;  // 0: nothing is added
layout(constant_id = 7) const uint IS_ADDED_SCALED = 0;

#define FLOAT32 1
#define FLOAT16 2
#define LEFT 0
#define RIGHT 1
#define ADDED 6

layout(std430, binding = 0) readonly buffer Parameters { ProductParameters parameters; };
layout(std430, binding = 1) readonly buffer LeftVectors { uvec4 left_vectors[]; };
layout(std430, binding = 1) readonly buffer LeftWords { uint left_words[]; };
layout(std430, binding = 2) readonly buffer RightVectors { uvec4 right_vectors[]; };
layout(std430, binding = 2) readonly buffer RightWords { uint right_words[]; };
layout(std430, binding = 3) readonly buffer AddedWords { uint added_words[]; };
layout(std430, binding = 9) writeonly buffer Outputs { uvec4 outputs[]; };
layout(std430, binding = 12) buffer ScratchVectors { vec4 scratch_vectors[]; };
layout(std430, binding = 12) buffer ScratchNumbers { float scratch_numbers[]; };
layout(push_constant) uniform Launch { uvec4 launch; };  // as in resident.hlsli

#define THREADS_OF_LAUNCH 256  // so many are counted for a group, however many it has
#define GROUPS_PER_ROW 65535
#define SUBGROUP 32
#define SUBGROUP_ROWS (SIDE / 2)
#define SUBGROUP_COLUMNS 32
#define GROUP_SIZE (2 * (SIDE / SUBGROUP_COLUMNS) * SUBGROUP)
layout(local_size_x = GROUP_SIZE) in;

// Slices in shared memory, in vectors of 8 elements. A vector more than needed between lines puts neighbouring lines
// into different banks.
#define PITCH_OF(elements) ((elements) / 8 + 1)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define MATRIX_VECTORS LARGER(SIDE * PITCH_OF(DEPTH), DEPTH * PITCH_OF(SIDE))
#define SLICE_VECTORS (2 * MATRIX_VECTORS)
const uint left_pitch = IS_LEFT_READ_BY_ROW != 0 ? PITCH_OF(SIDE) : PITCH_OF(DEPTH);
const uint right_pitch = IS_RIGHT_READ_BY_DEPTH != 0 ? PITCH_OF(DEPTH) : PITCH_OF(SIDE);
// The sums of 16 rows of all subgroups, on their way to outputs; in vectors of 4.
#define SUMS_PITCH (SUBGROUP_COLUMNS / 4 + 1)
#define SUMS_VECTORS (GROUP_SIZE / SUBGROUP * 16 * SUMS_PITCH)
shared uvec4 vectors[LARGER(2 * SLICE_VECTORS, SUMS_VECTORS)];

#define LOADS (SIDE * DEPTH / 8 / GROUP_SIZE)  // of a thread, of each matrix for a slice
#define ROW_BLOCKS (SUBGROUP_ROWS / 16)
#define COLUMN_BLOCKS (SUBGROUP_COLUMNS / 16)

// --- matrices of 16x16

#ifdef EMULATED
#define UNROLL [[dont_unroll]]
struct Factor { uint at, pitch; bool is_by_column; };
struct Sums { float numbers[8]; };
#define LOAD_FACTOR(factor, at, pitch, is_by_column) factor = Factor(at, pitch, is_by_column)
#define ADD_PRODUCT(sums, left, right) add_product(sums, left, right)
#define STORE_SUMS(sums, at, pitch) store_sums(sums, at, pitch)

uint first_element() { return gl_LocalInvocationIndex % SUBGROUP * 8; }

float factor_element(Factor factor, uint row, uint column) {
  const uint line = factor.is_by_column ? column : row;
  const uint place = factor.is_by_column ? row : column;
  const uvec4 v = vectors[factor.at + line * factor.pitch + place / 8];
  const vec2 pair = unpackHalf2x16(v[place % 8 / 2]);
  return place % 2 == 0 ? pair.x : pair.y;
}

void add_product(inout Sums sums, Factor left, Factor right) {
  for (uint e = 0; e < 8; ++e) {
    const uint row = first_element() / 16, column = first_element() % 16 + e;
    for (uint k = 0; k < 16; ++k) sums.numbers[e] += factor_element(left, row, k) * factor_element(right, k, column);
  }
}

void store_sums(Sums sums, uint at, uint pitch) {
  for (uint e = 0; e < 8; ++e) {
    const uint row = first_element() / 16, column = first_element() % 16 + e;
    vectors[at + row * pitch + column / 4][column % 4] = floatBitsToUint(sums.numbers[e]);
  }
}

Sums no_sums() {
  Sums sums;
  for (uint e = 0; e < 8; ++e) sums.numbers[e] = 0.0;
  return sums;
}
#else
#define UNROLL [[unroll]]  // matrices in arrays are in registers only if all their indices are known
#define Factor fcoopmatNV<16, gl_ScopeSubgroup, 16, 16>
#define Sums fcoopmatNV<32, gl_ScopeSubgroup, 16, 16>
#define LOAD_FACTOR(factor, at, pitch, is_by_column) coopMatLoadNV(factor, vectors, at, pitch, is_by_column)
#define ADD_PRODUCT(sums, left, right) sums = coopMatMulAddNV(left, right, sums)
#define STORE_SUMS(sums, at, pitch) coopMatStoreNV(sums, vectors, at, pitch, false)
#define no_sums() Sums(0.0)
#endif

// --- elements

uint batch_offset(uint matrix, uint batch) {
  uint offset = parameters.offsets[matrix];
  for (uint a = parameters.batch_rank; a > 0; --a) {
    const uint next = batch / parameters.batch_extents[a - 1];
    offset += (batch - next * parameters.batch_extents[a - 1]) * parameters.batch_strides[8 * matrix + a - 1];
    batch = next;
  }
  return offset;
}

// What a group computes.
struct Tile {
  uint part, batch, row, column;
  uint end;  // of the part of the sum
};

Tile tile_of(uint group) {
  Tile tile;
  const uint columns = group / parameters.row_tiles;
  const uint batches = columns / parameters.column_tiles;
  tile.row = (group - columns * parameters.row_tiles) * SIDE;
  tile.column = (columns - batches * parameters.column_tiles) * SIDE;
  tile.part = batches / parameters.batches;
  tile.batch = batches - tile.part * parameters.batches;
  tile.end = min((tile.part + 1) * parameters.part_length, parameters.sum_length);
  return tile;
}

// The first `count` elements of eight; zeros behind them.
uvec4 first_of(uvec4 eight, uint count) {
  const uvec4 before = uvec4(0, 2, 4, 6);
  return eight & mix(mix(uvec4(0), uvec4(0xFFFF), greaterThan(uvec4(count), before)), uvec4(0xFFFFFFFFu),
                     greaterThan(uvec4(count), before + 1));
}

// A vector of eight elements that threads read slice by slice. Elements outside of the rows and columns of a matrix
// are those of its last one or whatever stands behind it: they only reach sums that are not stored.
struct Line {
  uint at;     // element of the first slice
  uint step;   // to the next one
  uint depth;  // of the first element within a slice
  uint most;   // elements that are inside the matrix, at most 8; where they lie along the sum, it says how many
};

// `side` is a row or column of the tile or the first of eight, `extent` how many the matrix has.
Line line_of(uint first, uint begin, uint side, uint extent, uint stride, uint depth, uint depth_stride, bool is_along_sum) {
  Line line;
  const uint last = is_along_sum ? extent - 1 : (extent - 1) / 8 * 8;
  const uint inside = min(side, last);
  line.at = first + inside * stride + (begin + depth) * depth_stride;
  line.step = DEPTH * depth_stride;
  line.depth = depth;
  line.most = is_along_sum ? 8 : min(8, extent - inside);
  return line;
}

Line left_line(Tile tile, uint load) {
  const bool is_along_sum = IS_LEFT_READ_BY_ROW == 0;
  const uint v = gl_LocalInvocationIndex + load * GROUP_SIZE;
  const uint side = is_along_sum ? v / (DEPTH / 8) : v % (SIDE / 8) * 8;
  const uint depth = is_along_sum ? v % (DEPTH / 8) * 8 : v / (SIDE / 8);
  return line_of(batch_offset(LEFT, tile.batch), tile.part * parameters.part_length, tile.row + side, parameters.rows,
                 parameters.row_strides[LEFT], depth, parameters.left_depth_stride, is_along_sum);
}

Line right_line(Tile tile, uint load) {
  const bool is_along_sum = IS_RIGHT_READ_BY_DEPTH != 0;
  const uint v = gl_LocalInvocationIndex + load * GROUP_SIZE;
  const uint side = is_along_sum ? v / (DEPTH / 8) : v % (SIDE / 8) * 8;
  const uint depth = is_along_sum ? v % (DEPTH / 8) * 8 : v / (SIDE / 8);
  return line_of(batch_offset(RIGHT, tile.batch), tile.part * parameters.part_length, tile.column + side,
                 parameters.columns, parameters.column_strides[RIGHT], depth, parameters.right_depth_stride,
                 is_along_sum);
}

// Where a load's vector goes in a slice.
uint left_place(uint load) {
  const uint v = gl_LocalInvocationIndex + load * GROUP_SIZE;
  const uint per_line = IS_LEFT_READ_BY_ROW != 0 ? SIDE / 8 : DEPTH / 8;
  return v / per_line * left_pitch + v % per_line;
}

uint right_place(uint load) {
  const uint v = gl_LocalInvocationIndex + load * GROUP_SIZE;
  const uint per_line = IS_RIGHT_READ_BY_DEPTH != 0 ? DEPTH / 8 : SIDE / 8;
  return MATRIX_VECTORS + v / per_line * right_pitch + v % per_line;
}

// How many of a line's elements a slice has that begins `rest` elements before the part of the sum ends.
uint elements_left(Line line, uint rest, bool is_along_sum) {
  const uint left = rest - min(rest, line.depth);
  return is_along_sum ? min(left, 8) : left > 0 ? line.most : 0;
}

// Eight elements, `count` of which are there, that begin at any multiple of 2 bytes.
#define UNALIGNED(words, at, count, result)                                                                  \
  {                                                                                                          \
    const uint first = (at) / 2, last = ((at) + max(count, 1) - 1) / 2;                                      \
    const uvec4 low = uvec4(words[first], words[min(first + 1, last)], words[min(first + 2, last)],          \
                            words[min(first + 3, last)]);                                                    \
    const uvec4 high = uvec4(low.yzw, words[min(first + 4, last)]);                                          \
    result = (at) % 2 == 0 ? low : low >> 16 | high << 16;                                                   \
  }

// The vector of a slice, with anything in place of what is not there: a thread that looked at it at once would wait
// for memory.
uvec4 loaded_left(Line line, uint slice, uint rest) {
  const uint count = elements_left(line, rest, IS_LEFT_READ_BY_ROW == 0);
  const uint at = count > 0 ? line.at + slice * line.step : 0;
  if (IS_LEFT_ALIGNED != 0) return left_vectors[at / 8];
  uvec4 result;
  UNALIGNED(left_words, at, count, result)
  return result;
}

uvec4 loaded_right(Line line, uint slice, uint rest) {
  const uint count = elements_left(line, rest, IS_RIGHT_READ_BY_DEPTH != 0);
  const uint at = count > 0 ? line.at + slice * line.step : 0;
  if (IS_RIGHT_ALIGNED != 0) return right_vectors[at / 8];
  uvec4 result;
  UNALIGNED(right_words, at, count, result)
  return result;
}

// --- outputs

float added_number(uint at) {
  if (TYPE_ADDED == FLOAT32) return uintBitsToFloat(added_words[at]);
  const vec2 pair = unpackHalf2x16(added_words[at / 2]);
  return at % 2 == 0 ? pair.x : pair.y;
}

float finished(float number, uint batch_added, uint row, uint column) {
  if (TYPE_ADDED == 0) return number * parameters.factor;
  const float added = parameters.added_factor * added_number(batch_added + row * parameters.row_strides[ADDED] +
                                                             column * parameters.column_strides[ADDED]);
  return IS_ADDED_SCALED != 0 ? (number + added) * parameters.factor : number * parameters.factor + added;
}

#define PER_VECTOR (OUTPUT_TYPE == FLOAT16 ? 8 : 4)  // elements of 16 bytes of the output

uvec4 output_vector(float numbers[8]) {
  if (OUTPUT_TYPE == FLOAT16) {
    return uvec4(packHalf2x16(vec2(numbers[0], numbers[1])), packHalf2x16(vec2(numbers[2], numbers[3])),
                 packHalf2x16(vec2(numbers[4], numbers[5])), packHalf2x16(vec2(numbers[6], numbers[7])));
  }
  return floatBitsToUint(vec4(numbers[0], numbers[1], numbers[2], numbers[3]));
}

uint part_pitch() { return (parameters.batches * parameters.rows * parameters.columns + 3) / 4 * 4; }

// The sums of 16 rows of a subgroup, which begin at `at` in shared memory, become outputs, 16 bytes at a time.
void put_outputs(Tile tile, uint at, uint first_row, uint first_column) {
  const uint lane = gl_LocalInvocationIndex % SUBGROUP;
  const uint per_row = SUBGROUP_COLUMNS / PER_VECTOR;
  const uint batch_added = TYPE_ADDED != 0 ? batch_offset(ADDED, tile.batch) : 0;
  for (uint v = lane; v < 16 * per_row; v += SUBGROUP) {
    const uint row = first_row + v / per_row, column = first_column + v % per_row * PER_VECTOR;
    if (row >= parameters.rows || column >= parameters.columns) continue;
    float numbers[8];
    UNROLL for (uint e = 0; e < 8; ++e) {
      const uint from = v % per_row * PER_VECTOR + e;
      const uint word = vectors[at + v / per_row * SUMS_PITCH + from / 4][from % 4];
      numbers[e] = e < PER_VECTOR ? finished(uintBitsToFloat(word), batch_added, row, column + e) : 0.0;
    }
    outputs[((tile.batch * parameters.rows + row) * parameters.columns + column) / PER_VECTOR] = output_vector(numbers);
  }
}

// They go to scratch.
void put_sums(Tile tile, uint at, uint first_row, uint first_column) {
  const uint lane = gl_LocalInvocationIndex % SUBGROUP;
  for (uint e = lane; e < 16 * SUBGROUP_COLUMNS; e += SUBGROUP) {
    const uint row = first_row + e / SUBGROUP_COLUMNS, column = first_column + e % SUBGROUP_COLUMNS;
    if (row >= parameters.rows || column >= parameters.columns) continue;
    const uint from = at + e / SUBGROUP_COLUMNS * SUMS_PITCH + e % SUBGROUP_COLUMNS / 4;
    scratch_numbers[tile.part * part_pitch() + (tile.batch * parameters.rows + row) * parameters.columns + column] =
        uintBitsToFloat(vectors[from][e % 4]);
  }
}

// 16 bytes of the output, from the sums of all parts.
void finish(uint thread) {
  const uint first = thread * PER_VECTOR;
  vec4 low = vec4(0), high = vec4(0);
  for (uint part = 0; part < parameters.parts; ++part) {
    const uint at = (part * part_pitch() + first) / 4;
    low += scratch_vectors[at];
    if (OUTPUT_TYPE == FLOAT16 && first + 4 < part_pitch()) high += scratch_vectors[at + 1];
  }
  float numbers[8];
  const uint last = parameters.batches * parameters.rows * parameters.columns - 1;
  UNROLL for (uint e = 0; e < 8; ++e) {
    if (e >= PER_VECTOR) break;
    const uint element = min(first + e, last);
    const uint flat_row = element / parameters.columns;
    const uint batch = flat_row / parameters.rows;
    const uint batch_added = TYPE_ADDED != 0 ? batch_offset(ADDED, batch) : 0;
    numbers[e] = finished(e < 4 ? low[e % 4] : high[e % 4], batch_added, flat_row - batch * parameters.rows,
                          element - flat_row * parameters.columns);
  }
  outputs[thread] = output_vector(numbers);
}

// --- sums

void add_up(uint group) {
  const Tile tile = tile_of(group);
  const uint begin = tile.part * parameters.part_length;
  const uint subgroup = gl_LocalInvocationIndex / SUBGROUP;
  const uint first_row = subgroup % 2 * SUBGROUP_ROWS;
  const uint first_column = subgroup / 2 * SUBGROUP_COLUMNS;
  Sums sums[ROW_BLOCKS][COLUMN_BLOCKS];
  UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
    UNROLL for (uint j = 0; j < COLUMN_BLOCKS; ++j) sums[i][j] = no_sums();
  }
  Line lefts[LOADS], rights[LOADS];
  uvec4 left_next[LOADS], right_next[LOADS];
  uint rest = tile.end - begin;  // of the part of the sum from the next slice on
  UNROLL for (uint i = 0; i < LOADS; ++i) {
    lefts[i] = left_line(tile, i);
    left_next[i] = loaded_left(lefts[i], 0, rest);
  }
  UNROLL for (uint i = 0; i < LOADS; ++i) {
    rights[i] = right_line(tile, i);
    right_next[i] = loaded_right(rights[i], 0, rest);
  }
  const uint slices = (rest + DEPTH - 1) / DEPTH;
  for (uint slice = 0; slice < slices; ++slice) {
    const uint buffer_ = slice % 2 * SLICE_VECTORS;
    if (rest < DEPTH) {
      UNROLL for (uint i = 0; i < LOADS; ++i)
        left_next[i] = first_of(left_next[i], elements_left(lefts[i], rest, IS_LEFT_READ_BY_ROW == 0));
      UNROLL for (uint i = 0; i < LOADS; ++i)
        right_next[i] = first_of(right_next[i], elements_left(rights[i], rest, IS_RIGHT_READ_BY_DEPTH != 0));
    }
    UNROLL for (uint i = 0; i < LOADS; ++i) vectors[buffer_ + left_place(i)] = left_next[i];
    UNROLL for (uint i = 0; i < LOADS; ++i) vectors[buffer_ + right_place(i)] = right_next[i];
    barrier();
    rest -= min(rest, DEPTH);
    UNROLL for (uint i = 0; i < LOADS; ++i) left_next[i] = loaded_left(lefts[i], slice + 1, rest);
    UNROLL for (uint i = 0; i < LOADS; ++i) right_next[i] = loaded_right(rights[i], slice + 1, rest);
    UNROLL for (uint k = 0; k < DEPTH; k += 16) {
      Factor left_factors[ROW_BLOCKS], right_factors[COLUMN_BLOCKS];
      UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
        const uint row = first_row + i * 16;
        const uint at = IS_LEFT_READ_BY_ROW != 0 ? k * left_pitch + row / 8 : row * left_pitch + k / 8;
        LOAD_FACTOR(left_factors[i], buffer_ + at, left_pitch, IS_LEFT_READ_BY_ROW != 0);
      }
      UNROLL for (uint j = 0; j < COLUMN_BLOCKS; ++j) {
        const uint column = first_column + j * 16;
        const uint at = IS_RIGHT_READ_BY_DEPTH != 0 ? column * right_pitch + k / 8 : k * right_pitch + column / 8;
        LOAD_FACTOR(right_factors[j], buffer_ + MATRIX_VECTORS + at, right_pitch, IS_RIGHT_READ_BY_DEPTH != 0);
      }
      UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
        UNROLL for (uint j = 0; j < COLUMN_BLOCKS; ++j) ADD_PRODUCT(sums[i][j], left_factors[i], right_factors[j]);
      }
    }
  }
  const uint sums_at = subgroup * 16 * SUMS_PITCH;
  UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
    barrier();
    UNROLL for (uint j = 0; j < COLUMN_BLOCKS; ++j) STORE_SUMS(sums[i][j], sums_at + j * 4, SUMS_PITCH);
    barrier();
    const uint row = tile.row + first_row + i * 16, column = tile.column + first_column;
    if (IS_DIRECT != 0) {
      put_outputs(tile, sums_at, row, column);
    } else {
      put_sums(tile, sums_at, row, column);
    }
  }
}

void main() {
  const uint group = launch.x / THREADS_OF_LAUNCH + gl_WorkGroupID.y * GROUPS_PER_ROW + gl_WorkGroupID.x;
  if (launch.z == 0) {
    // The last row of groups may have more than there are tiles.
    if (group * THREADS_OF_LAUNCH < launch.y) add_up(group);
  } else {
    for (uint thread = group * THREADS_OF_LAUNCH + gl_LocalInvocationIndex; thread < (group + 1) * THREADS_OF_LAUNCH;
         thread += GROUP_SIZE) {
      if (thread < launch.y) finish(thread);
    }
  }
}
