// Products of matrices and convolutions of FLOAT16 (product.hlsl) by cooperative matrices: 16x16 elements that the 32
// threads of a subgroup hold and multiply together, into sums of FLOAT32. For Vulkan alone; HLSL has none of them.
//
// A group computes a tile of ROWS and COLUMNS, a subgroup SUBGROUP_ROWS and SUBGROUP_COLUMNS of it: all are chosen when
// the pipeline is made (lib/gpu/kernels/product_matrices.cpp), or are macros of a module, which has no windows. With
// macros an H200 computed products by tiles of 128x128 at 183 TFLOP/s, and without them at 101.
//
// Slices of DEPTH elements of the sums pass through shared memory. Where there is room for two, one is filled while the
// other is multiplied. Both matrices are read by eights along the axis where their elements are neighbors, and lie in
// shared memory as they do in their buffers.
//
// The right matrix of a convolution is read through its windows: eight columns are positions side by side in a row of
// the output, for which rows count as if their length were a multiple of eight.
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

layout(constant_id = 0) const uint IS_LEFT_READ_BY_ROW = 0;     // its elements are neighbors along the rows
layout(constant_id = 1) const uint IS_RIGHT_READ_BY_DEPTH = 0;  // likewise along the sum
layout(constant_id = 2) const uint IS_LEFT_ALIGNED = 0;         // its eights begin at multiples of 16 bytes
layout(constant_id = 3) const uint IS_RIGHT_ALIGNED = 0;
layout(constant_id = 4) const uint IS_DIRECT = 0;
layout(constant_id = 5) const uint OUTPUT_TYPE = 0;
layout(constant_id = 6) const uint TYPE_ADDED = 0;  // 0: nothing is added
layout(constant_id = 7) const uint IS_ADDED_SCALED = 0;
#ifdef ROWS
#define WINDOW_STEP 0
#else
layout(constant_id = 8) const uint WINDOW_STEP = 0;  // from window to window in a row; 0: there are no windows
layout(constant_id = 9) const uint ROWS = 64;
layout(constant_id = 10) const uint COLUMNS = 64;
layout(constant_id = 11) const uint DEPTH = 32;
layout(constant_id = 12) const uint SUBGROUP_ROWS = 32;
layout(constant_id = 13) const uint SUBGROUP_COLUMNS = 32;
layout(constant_id = 14) const uint BUFFERS = 2;  // slices in shared memory
layout(constant_id = 15) const uint SHARED_VECTORS = 1;
layout(local_size_x_id = 16) in;  // GROUP_SIZE
#endif
layout(constant_id = 17) const uint HAS_REST = 0;  // parts of the sum end within a slice

#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) const uint name = number;
#include "data_types.def"
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
layout(push_constant) uniform Launch { uvec4 launch; };  // as in elements.hlsli

#define THREADS_OF_LAUNCH 256  // so many are counted for a group, however many it has
#define GROUPS_PER_ROW 65535
#define SUBGROUP 32
#define SUBGROUPS_DOWN (ROWS / SUBGROUP_ROWS)
#define GROUP_SIZE (SUBGROUPS_DOWN * (COLUMNS / SUBGROUP_COLUMNS) * SUBGROUP)
#ifdef ROWS
layout(local_size_x = GROUP_SIZE) in;
#endif

// Slices in shared memory, in vectors of 8 elements. A vector more than needed between lines puts neighboring lines
// into different banks.
#define PITCH_OF(elements) ((elements) / 8 + 1)
const uint left_pitch = IS_LEFT_READ_BY_ROW != 0 ? PITCH_OF(ROWS) : PITCH_OF(DEPTH);
const uint right_pitch = IS_RIGHT_READ_BY_DEPTH != 0 ? PITCH_OF(DEPTH) : PITCH_OF(COLUMNS);
const uint left_vectors_of_slice = IS_LEFT_READ_BY_ROW != 0 ? DEPTH * PITCH_OF(ROWS) : ROWS * PITCH_OF(DEPTH);
const uint right_vectors_of_slice = IS_RIGHT_READ_BY_DEPTH != 0 ? COLUMNS * PITCH_OF(DEPTH) : DEPTH * PITCH_OF(COLUMNS);
#define SLICE_VECTORS (left_vectors_of_slice + right_vectors_of_slice)
// The sums of 16 rows of all subgroups, on their way to outputs; in vectors of 4.
#define SUMS_PITCH (SUBGROUP_COLUMNS / 4 + 1)
#ifdef ROWS
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define MOST_OF_SLICE(side) LARGER((side) * PITCH_OF(DEPTH), DEPTH * PITCH_OF(side))
#define SUMS_VECTORS (GROUP_SIZE / SUBGROUP * 16 * SUMS_PITCH)
#define SHARED_VECTORS LARGER(BUFFERS * (MOST_OF_SLICE(ROWS) + MOST_OF_SLICE(COLUMNS)), SUMS_VECTORS)
#endif
shared uvec4 vectors[SHARED_VECTORS];
// Behind slices and sums, with windows: where the elements of a slice are in the right matrix, for two slices.
#define PLACES (SHARED_VECTORS - 2 * DEPTH)

// Of a thread, of a matrix for a slice.
#define LEFT_LOADS (ROWS * DEPTH / 8 / GROUP_SIZE)
#define RIGHT_LOADS (COLUMNS * DEPTH / 8 / GROUP_SIZE)
#define ROW_BLOCKS (SUBGROUP_ROWS / 16)
#define COLUMN_BLOCKS (SUBGROUP_COLUMNS / 16)
#ifdef ROWS
#define LOADS_MOST LARGER(LEFT_LOADS, RIGHT_LOADS)
#define ROW_BLOCKS_MOST ROW_BLOCKS
#define COLUMN_BLOCKS_MOST COLUMN_BLOCKS
#else
#define LOADS_MOST 4
#define ROW_BLOCKS_MOST 4
#define COLUMN_BLOCKS_MOST 4
#endif

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
  tile.row = (group - columns * parameters.row_tiles) * ROWS;
  tile.column = (columns - batches * parameters.column_tiles) * COLUMNS;
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
  const uint side = is_along_sum ? v / (DEPTH / 8) : v % (ROWS / 8) * 8;
  const uint depth = is_along_sum ? v % (DEPTH / 8) * 8 : v / (ROWS / 8);
  return line_of(batch_offset(LEFT, tile.batch), tile.part * parameters.part_length, tile.row + side, parameters.rows,
                 parameters.row_strides[LEFT], depth, parameters.left_depth_stride, is_along_sum);
}

Line right_line(Tile tile, uint load) {
  const bool is_along_sum = IS_RIGHT_READ_BY_DEPTH != 0;
  const uint v = gl_LocalInvocationIndex + load * GROUP_SIZE;
  const uint side = is_along_sum ? v / (DEPTH / 8) : v % (COLUMNS / 8) * 8;
  const uint depth = is_along_sum ? v % (DEPTH / 8) * 8 : v / (COLUMNS / 8);
  return line_of(batch_offset(RIGHT, tile.batch), tile.part * parameters.part_length, tile.column + side,
                 parameters.columns, parameters.column_strides[RIGHT], depth, parameters.right_depth_stride,
                 is_along_sum);
}

// Where a load's vector goes in a slice.
uint left_place(uint load) {
  const uint v = gl_LocalInvocationIndex + load * GROUP_SIZE;
  const uint per_line = IS_LEFT_READ_BY_ROW != 0 ? ROWS / 8 : DEPTH / 8;
  return v / per_line * left_pitch + v % per_line;
}

uint right_place(uint load) {
  const uint v = gl_LocalInvocationIndex + load * GROUP_SIZE;
  const uint per_line = IS_RIGHT_READ_BY_DEPTH != 0 ? DEPTH / 8 : COLUMNS / 8;
  return left_vectors_of_slice + v / per_line * right_pitch + v % per_line;
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
  const uint count = HAS_REST != 0 ? elements_left(line, rest, IS_LEFT_READ_BY_ROW == 0) : line.most;
  const uint at = count > 0 ? line.at + slice * line.step : 0;
  if (IS_LEFT_ALIGNED != 0) return left_vectors[at / 8];
  uvec4 result;
  UNALIGNED(left_words, at, count, result)
  return result;
}

uvec4 loaded_right(Line line, uint slice, uint rest) {
  const uint count = HAS_REST != 0 ? elements_left(line, rest, IS_RIGHT_READ_BY_DEPTH != 0) : line.most;
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

// --- windows

// Where the window of the first of eight columns begins.
struct Window {
  int z, y, x;
};

uint padded_width() { return (parameters.output_extents[2] + 7) / 8 * 8; }
uint padded_columns() {
  return parameters.output_extents[0] * parameters.output_extents[1] * padded_width();
}

// A column is a position of the output: where it stands in a row, and its number without the rows' ends.
uvec2 position_of(uint column) {
  if (WINDOW_STEP == 0) return uvec2(0, column);
  const uint row = column / padded_width();
  const uint x = column - row * padded_width();
  return uvec2(x, row * parameters.output_extents[2] + x);
}

// Whether columns are there from this one on.
bool is_inside(uint column) {
  return WINDOW_STEP == 0 ? column < parameters.columns : column < padded_columns();
}

bool is_row_end(uvec2 position) { return WINDOW_STEP != 0 && position.x >= parameters.output_extents[2]; }

Window window_of(uint column) {
  const uint row = min(column, padded_columns() - 1) / padded_width();
  const uint plane = row / parameters.output_extents[1];
  Window window;
  window.z = int(plane) * parameters.steps[0] + parameters.window_offsets[0];
  window.y = int(row - plane * parameters.output_extents[1]) * parameters.steps[1] + parameters.window_offsets[1];
  window.x = int(column % padded_width()) * parameters.steps[2] + parameters.window_offsets[2];
  return window;
}

// Element k of a sum, a channel and a tap: its channel's offset, and how far the tap is from the window's first one.
// Behind the end of the sum it is outside of all windows.
uvec4 place_of(uint k, uint end) {
  const uint rows = k / parameters.taps[2];
  const uint planes = rows / parameters.taps[1];
  const uint channel = planes / parameters.taps[0];
  const int z = int(planes - channel * parameters.taps[0]) * parameters.tap_steps[0];
  const int y = int(rows - planes * parameters.taps[1]) * parameters.tap_steps[1];
  const int x = int(k - rows * parameters.taps[2]) * parameters.tap_steps[2];
  return uvec4(channel * parameters.right_depth_stride, k < end ? z : 0x40000000, y, x);
}

// Words that hold eight elements or, where windows are several elements apart, the first and last of them, and which of
// these are inside of the input.
#define WINDOW_WORDS (WINDOW_STEP == 1 ? 5 : 8)
#define WINDOW_WORDS_MOST 8
struct Eight {
  uint words[WINDOW_WORDS_MOST];
  uint odd;     // where the first element stands in its word
  int first, end;  // of those inside
};

Eight loaded_eight(Window window, uvec4 place, uint batch) {
  const int z = window.z + int(place.y), y = window.y + int(place.z), x = window.x + int(place.w);
  const int width = int(parameters.input_extents[2]), step = int(WINDOW_STEP);
  const bool is_row = uint(z) < parameters.input_extents[0] && uint(y) < parameters.input_extents[1];
  const int at = int(batch + place.x + uint(z) * parameters.input_strides[0] + uint(y) * parameters.input_strides[1]) + x;
  Eight eight;
  eight.odd = uint(at) & 1;
  eight.first = x < 0 ? (step - 1 - x) / step : 0;
  eight.end = is_row ? (width - x + step - 1) / step : 0;
  UNROLL for (uint w = 0; w < WINDOW_WORDS; ++w) {
    const int element = WINDOW_STEP == 1 ? at + int(2 * w) : at + int(w) * step;
    eight.words[w] = right_words[min(uint(element >> 1), parameters.last_word)];
  }
  return eight;
}

// The elements, zeros in place of those outside.
uvec4 elements_of(Eight eight) {
  uvec4 result;
  UNROLL for (uint w = 0; w < 4; ++w) {
    uint pair;
    if (WINDOW_STEP == 1) {
      pair = eight.odd == 0 ? eight.words[w] : eight.words[w] >> 16 | eight.words[w + 1] << 16;
    } else {
      const bool is_second_odd = (eight.odd + WINDOW_STEP & 1) != 0;
      const uint low = eight.words[2 * w], high = eight.words[2 * w + 1];
      pair = (eight.odd == 0 ? low & 0xFFFF : low >> 16) | (is_second_odd ? high & 0xFFFF0000u : high << 16);
    }
    const int e = int(2 * w);
    const uint low_mask = e >= eight.first && e < eight.end ? 0xFFFF : 0;
    const uint high_mask = e + 1 >= eight.first && e + 1 < eight.end ? 0xFFFF0000u : 0;
    result[w] = pair & (low_mask | high_mask);
  }
  return result;
}

// --- sums on their way

uint part_pitch() { return (parameters.batches * parameters.rows * parameters.columns + 3) / 4 * 4; }

// The sums of 16 rows of a subgroup, which begin at `at` in shared memory, become outputs, 16 bytes at a time.
void put_outputs(Tile tile, uint at, uint first_row, uint first_column) {
  const uint lane = gl_LocalInvocationIndex % SUBGROUP;
  const uint per_row = SUBGROUP_COLUMNS / PER_VECTOR;
  const uint batch_added = TYPE_ADDED != 0 ? batch_offset(ADDED, tile.batch) : 0;
  for (uint v = lane; v < 16 * per_row; v += SUBGROUP) {
    const uint row = first_row + v / per_row, column = first_column + v % per_row * PER_VECTOR;
    const uvec2 position = position_of(column);
    if (row >= parameters.rows || !is_inside(column) || is_row_end(position)) continue;
    float numbers[8];
    UNROLL for (uint e = 0; e < 8; ++e) {
      const uint from = v % per_row * PER_VECTOR + e;
      const uint word = vectors[at + v / per_row * SUMS_PITCH + from / 4][from % 4];
      numbers[e] = e < PER_VECTOR ? finished(uintBitsToFloat(word), batch_added, row, position.y + e) : 0.0;
    }
    outputs[((tile.batch * parameters.rows + row) * parameters.columns + position.y) / PER_VECTOR] = output_vector(numbers);
  }
}

// They go to scratch.
void put_sums(Tile tile, uint at, uint first_row, uint first_column) {
  const uint lane = gl_LocalInvocationIndex % SUBGROUP;
  for (uint e = lane; e < 16 * SUBGROUP_COLUMNS; e += SUBGROUP) {
    const uint row = first_row + e / SUBGROUP_COLUMNS, column = first_column + e % SUBGROUP_COLUMNS;
    const uvec2 position = position_of(column);
    if (row >= parameters.rows || !is_inside(column) || is_row_end(position)) continue;
    const uint from = at + e / SUBGROUP_COLUMNS * SUMS_PITCH + e % SUBGROUP_COLUMNS / 4;
    scratch_numbers[tile.part * part_pitch() + (tile.batch * parameters.rows + row) * parameters.columns + position.y] =
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

// The element of a slice that a load of the right matrix takes, read along its columns.
uint depth_of(uint load) { return (gl_LocalInvocationIndex + load * GROUP_SIZE) / (COLUMNS / 8); }

void add_up(uint group) {
  const Tile tile = tile_of(group);
  const uint begin = tile.part * parameters.part_length;
  const uint subgroup = gl_LocalInvocationIndex / SUBGROUP;
  const uint first_row = subgroup % SUBGROUPS_DOWN * SUBGROUP_ROWS;
  const uint first_column = subgroup / SUBGROUPS_DOWN * SUBGROUP_COLUMNS;
  Sums sums[ROW_BLOCKS_MOST][COLUMN_BLOCKS_MOST];
  UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
    UNROLL for (uint j = 0; j < COLUMN_BLOCKS; ++j) sums[i][j] = no_sums();
  }
  Line lefts[LOADS_MOST], rights[LOADS_MOST];
  uvec4 left_next[LOADS_MOST], right_next[LOADS_MOST];
  Eight eights[LOADS_MOST];
  Window window;
  const uint right_batch = batch_offset(RIGHT, tile.batch);
  const uint lane = gl_LocalInvocationIndex;
  uint rest = tile.end - begin;  // of the part of the sum from the next slice on
  UNROLL for (uint i = 0; i < LEFT_LOADS; ++i) {
    lefts[i] = left_line(tile, i);
    left_next[i] = loaded_left(lefts[i], 0, rest);
  }
  if (WINDOW_STEP == 0) {
    UNROLL for (uint i = 0; i < RIGHT_LOADS; ++i) {
      rights[i] = right_line(tile, i);
      right_next[i] = loaded_right(rights[i], 0, rest);
    }
  } else {
    window = window_of(tile.column + lane % (COLUMNS / 8) * 8);
    if (lane < 2 * DEPTH) vectors[PLACES + lane] = place_of(begin + lane, tile.end);
    barrier();
    UNROLL for (uint i = 0; i < RIGHT_LOADS; ++i)
      eights[i] = loaded_eight(window, vectors[PLACES + depth_of(i)], right_batch);
  }
  const uint slices = (rest + DEPTH - 1) / DEPTH;
  for (uint slice = 0; slice < slices; ++slice) {
    const uint buffer_ = slice % BUFFERS * SLICE_VECTORS;
    if (BUFFERS == 1) barrier();
    if (HAS_REST != 0 && rest < DEPTH) {
      UNROLL for (uint i = 0; i < LEFT_LOADS; ++i)
        left_next[i] = first_of(left_next[i], elements_left(lefts[i], rest, IS_LEFT_READ_BY_ROW == 0));
      if (WINDOW_STEP == 0) {
        UNROLL for (uint i = 0; i < RIGHT_LOADS; ++i)
          right_next[i] = first_of(right_next[i], elements_left(rights[i], rest, IS_RIGHT_READ_BY_DEPTH != 0));
      }
    }
    UNROLL for (uint i = 0; i < LEFT_LOADS; ++i) vectors[buffer_ + left_place(i)] = left_next[i];
    UNROLL for (uint i = 0; i < RIGHT_LOADS; ++i)
      vectors[buffer_ + right_place(i)] = WINDOW_STEP == 0 ? right_next[i] : elements_of(eights[i]);
    barrier();
    rest -= min(rest, DEPTH);
    // The last slice is loaded twice where nothing else prevents a load behind it: a branch costs more.
    const uint next_slice = HAS_REST != 0 ? slice + 1 : min(slice + 1, slices - 1);
    UNROLL for (uint i = 0; i < LEFT_LOADS; ++i) left_next[i] = loaded_left(lefts[i], next_slice, rest);
    if (WINDOW_STEP == 0) {
      UNROLL for (uint i = 0; i < RIGHT_LOADS; ++i) right_next[i] = loaded_right(rights[i], next_slice, rest);
    } else {
      const uint next = PLACES + (slice + 1) % 2 * DEPTH;
      UNROLL for (uint i = 0; i < RIGHT_LOADS; ++i)
        eights[i] = loaded_eight(window, vectors[next + depth_of(i)], right_batch);
      // No thread reads the places of this slice any more.
      if (lane < DEPTH)
        vectors[PLACES + slice % 2 * DEPTH + lane] = place_of(begin + (slice + 2) * DEPTH + lane, tile.end);
    }
    UNROLL for (uint k = 0; k < DEPTH; k += 16) {
      Factor left_factors[ROW_BLOCKS_MOST], right_factors[COLUMN_BLOCKS_MOST];
      UNROLL for (uint i = 0; i < ROW_BLOCKS; ++i) {
        const uint row = first_row + i * 16;
        const uint at = IS_LEFT_READ_BY_ROW != 0 ? k * left_pitch + row / 8 : row * left_pitch + k / 8;
        LOAD_FACTOR(left_factors[i], buffer_ + at, left_pitch, IS_LEFT_READ_BY_ROW != 0);
      }
      UNROLL for (uint j = 0; j < COLUMN_BLOCKS; ++j) {
        const uint column = first_column + j * 16;
        const uint at = IS_RIGHT_READ_BY_DEPTH != 0 ? column * right_pitch + k / 8 : k * right_pitch + column / 8;
        LOAD_FACTOR(right_factors[j], buffer_ + left_vectors_of_slice + at, right_pitch, IS_RIGHT_READ_BY_DEPTH != 0);
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
