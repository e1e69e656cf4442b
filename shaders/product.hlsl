// Products of matrices and convolutions: ProductKernel (lib/ops/kernels/product.hpp). A group computes a square tile of
// rows and columns, a thread four or eight of each; slices of the left and right matrices pass through groupshared
// memory. A convolution reads its right matrix through its windows: a column is an output position, and an element of a
// sum a channel and a tap.
//
// Stage 0 computes parts of sums. Where IS_DIRECT, these are whole and become outputs at once; otherwise they go to
// scratch, and stage 1 adds the parts of each and makes outputs of them. BASE of stage 0 is how many slices a part has.
//
// Variants: COMPUTES_FLOAT; COMPUTES_INT, with 32 bits; and COMPUTES_WIDE, with sums of 96 bits. THREAD_TILE is how many rows and
// columns a thread has, DEPTH how many elements of a sum a slice has. With VECTORS, both matrices are FLOAT32
// and read by fours: the right one along its columns, the left one along its rows or the sum. With windows the sum's
// elements are neighbors in the left matrix, and four columns are positions side by side in a row of the output, for
// which rows count as if their length were a multiple of four. FEW_ROWS is for so many rows at most at a time
// (product_few_rows.hlsli). Without either, a thread computes a part of one sum: for matrices so small that they leave
// tiles empty.
#include "parameters/product.hlsli"
#define PARAMETERS ProductParameters
#define WHOLE_GROUPS
#if defined(VECTORS) || defined(FEW_ROWS)
#define LOADS_VECTORS
#endif
#include "elements.hlsli"
#include "functions.hlsli"

PRODUCT_SPECIALIZATION(SPECIALIZED)
#define BUFFER_LEFT 1
#define BUFFER_RIGHT 2

// Where the parameters of an input stand.
#define LEFT 0
#define RIGHT 1
#define LEFT_ZERO 2
#define RIGHT_ZERO 3
#define LEFT_SCALE 4
#define RIGHT_SCALE 5
#define ADDED 6
#define OUTPUT_SCALE 7
#define OUTPUT_ZERO 8

uint output_elements() { return parameters[0].batches * parameters[0].rows * parameters[0].columns; }

// The first element of an input in a batch.
uint batch_offset(uint input, uint batch) {
  uint offset = parameters[0].offsets[input];
  const uint rank = parameters[0].batch_rank;
  for (uint step = 0; step < rank; ++step) {
    const uint a = rank - 1 - step;
    const uint next = batch / parameters[0].batch_extents[a];
    offset += (batch - next * parameters[0].batch_extents[a]) * parameters[0].batch_strides[8 * input + a];
    batch = next;
  }
  return offset;
}

uint offset_at(uint input, uint batch, uint row, uint column) {
  return batch_offset(input, batch) + row * parameters[0].row_strides[input] +
         column * parameters[0].column_strides[input];
}


// --- numbers

#ifdef COMPUTES_FLOAT
#define NUMBER float
#define ZERO 0.0f
#define NUMBER4 float4
#define NUMBER_OF(bits, type) real_of(bits, type)
#define WORD_OF(number) asuint(number)
#define NUMBER_OF_WORD(word) asfloat(word)
#endif
#ifdef COMPUTES_INT
#define NUMBER int
#define ZERO 0
#define NUMBER4 int4
#define NUMBER_OF(bits, type) int(extended(bits, type))
#define WORD_OF(number) uint(number)
#define NUMBER_OF_WORD(word) int(word)
#endif
#ifdef COMPUTES_WIDE  // the lowest word first
#define NUMBER uint2
#define ZERO uint2(0, 0)
#define TOTAL uint3  // differences of 32-bit integers have 33 bits, and their products 66
#define TOTAL_ZERO uint3(0, 0, 0)
#define NUMBER_OF(bits, type) wide_of(bits, type)

uint2 wide_of(uint bits, uint type) {
  const uint low = extended(bits, type);
  return uint2(low, is_signed(type) && (low >> 31) != 0 ? 0xFFFFFFFFu : 0);
}

uint3 sum(uint3 a, uint3 b) {
  const uint2 low = sum(a.xy, b.xy);
  return uint3(low, a.z + b.z + (is_less(low, a.xy) ? 1 : 0));
}
uint3 negated(uint3 a) { return sum(uint3(~a.x, ~a.y, ~a.z), uint3(1, 0, 0)); }

// Of numbers with a sign, which is in all bits of a third word.
uint3 whole_product(uint2 a, uint2 b) {
  const uint a_sign = 0 - (a.y >> 31), b_sign = 0 - (b.y >> 31);
  uint3 total = uint3(a.x * b.x, high_product(a.x, b.x), a.y * b.y + a_sign * b.x + a.x * b_sign);
  total = sum(total, uint3(0, a.x * b.y, high_product(a.x, b.y)));
  return sum(total, uint3(0, a.y * b.x, high_product(a.y, b.x)));
}

// The nearest FLOAT32; rounded once, because what is lost of the lower words does not reach a half alone.
float real_of_wide(uint3 a) {
  const bool is_negative = (a.z >> 31) != 0;
  uint3 magnitude = a;
  if (is_negative) magnitude = negated(a);
  int words = 2;  // below the highest one
  if (magnitude.z == 0) {
    words = magnitude.y == 0 ? 0 : 1;
    if (words == 1) magnitude = uint3(0, magnitude.x, magnitude.y);
    if (words == 0) magnitude = uint3(0, 0, magnitude.x);
  }
  if (magnitude.z == 0) return 0.0f;
  const uint zeros = 31 - firstbithigh(magnitude.z);
  const uint top = zeros == 0 ? magnitude.z : magnitude.z << zeros | magnitude.y >> (32 - zeros);
  const uint rest = magnitude.y << zeros | magnitude.x;
  const float result = real_of_word(top | (rest != 0 ? 1 : 0)) * power_of_two(32 * words - int(zeros));
  return is_negative ? -result : result;
}
#else
#define TOTAL NUMBER
#define TOTAL_ZERO ZERO
NUMBER whole_product(NUMBER a, NUMBER b) { return product(a, b); }
#endif

NUMBER left_number(uint at) { return NUMBER_OF(load_bits(BUFFER_LEFT, at, size_of(TYPE_LEFT)), TYPE_LEFT); }
NUMBER right_number(uint at) { return NUMBER_OF(load_bits(BUFFER_RIGHT, at, size_of(TYPE_RIGHT)), TYPE_RIGHT); }
NUMBER left_zero_number(uint at) {
  return NUMBER_OF(load_bits(BUFFER_LEFT_ZERO, at, size_of(TYPE_LEFT_ZERO)), TYPE_LEFT_ZERO);
}
NUMBER right_zero_number(uint at) {
  return NUMBER_OF(load_bits(BUFFER_RIGHT_ZERO, at, size_of(TYPE_RIGHT_ZERO)), TYPE_RIGHT_ZERO);
}

// --- windows

// Where the windows of a column begin, in steps of the input before they are divided.
int3 window_at(uint column) {
  const uint next = column / parameters[0].output_extents[2];
  const uint z = next / parameters[0].output_extents[1];
  const uint y = next - z * parameters[0].output_extents[1];
  const uint x = column - next * parameters[0].output_extents[2];
  return int3(int(z) * parameters[0].steps[0] + parameters[0].window_offsets[0],
              int(y) * parameters[0].steps[1] + parameters[0].window_offsets[1],
              int(x) * parameters[0].steps[2] + parameters[0].window_offsets[2]);
}

bool is_left_out(uint column) {
  const uint next = column / parameters[0].output_extents[2];
  const uint z = next / parameters[0].output_extents[1];
  const uint y = next - z * parameters[0].output_extents[1];
  const uint x = column - next * parameters[0].output_extents[2];
  return z >= parameters[0].computed[0] || y >= parameters[0].computed[1] || x >= parameters[0].computed[2];
}

// An element of a sum: a channel and a tap.
struct Place {
  uint left;   // offset in a row of the left matrix
  uint right;  // offset of the channel
  int3 tap;    // as in window_at()
};

Place place_of(uint k) {
  Place place;
  if (HAS_WINDOWS == 0) {
    place.left = k * parameters[0].left_depth_stride;
    place.right = k * parameters[0].right_depth_stride;
    place.tap = int3(0, 0, 0);
    return place;
  }
  const uint rows = k / parameters[0].taps[2];
  const uint planes = rows / parameters[0].taps[1];
  const uint channel = planes / parameters[0].taps[0];
  const uint x = k - rows * parameters[0].taps[2];
  const uint y = rows - planes * parameters[0].taps[1];
  const uint z = planes - channel * parameters[0].taps[0];
  place.left = channel * parameters[0].left_depth_stride + z * parameters[0].left_strides[0] +
               y * parameters[0].left_strides[1] + x * parameters[0].left_strides[2];
  place.right = channel * parameters[0].right_depth_stride;
  place.tap = int3(int(z) * parameters[0].tap_steps[0], int(y) * parameters[0].tap_steps[1],
                   int(x) * parameters[0].tap_steps[2]);
  return place;
}

// Adds the offset of a position of an axis; false at padding.
bool add_axis(uint axis, int position, inout uint offset) {
  uint index = uint(position);
  bool is_inside = position >= 0;
  if (HAS_DIVISORS != 0) {
    const uint divisor = uint(parameters[0].divisors[axis]);
    const uint divided = index / divisor;
    is_inside = is_inside && divided * divisor == index;
    index = divided;
  }
  offset += index * parameters[0].input_strides[axis];
  return is_inside && index < parameters[0].input_extents[axis];
}

// Where an element of the right matrix is; false at padding.
bool find_in_window(int3 window, uint channel, int3 tap, out uint offset) {
  offset = channel;
  const bool has_z = add_axis(0, window.x + tap.x, offset);
  const bool has_y = add_axis(1, window.y + tap.y, offset);
  const bool has_x = add_axis(2, window.z + tap.z, offset);
  return has_z && has_y && has_x;
}

// --- outputs

uint added_offset(uint batch) { return BUFFER_ADDED != 0 ? batch_offset(ADDED, batch) : 0; }

// What follows a sum, as the bits of an output element. What is added to the batch begins at `added_from`.
uint finished(TOTAL total, uint batch, uint added_from, uint row, uint column) {
#ifdef COMPUTES_WIDE
  if (IS_INTEGER != 0) return total.x;
  float number = real_of_wide(total);
#else
  if (IS_INTEGER != 0) return WORD_OF(total);
  float number = float(total);
#endif
  float added = 0.0f;
  if (BUFFER_ADDED != 0) {
    const uint at = added_from + row * parameters[0].row_strides[ADDED] + column * parameters[0].column_strides[ADDED];
    added = parameters[0].added_factor * load_real(BUFFER_ADDED, at, TYPE_ADDED);
  }
  if (IS_ADDED_SCALED != 0 && BUFFER_ADDED != 0) number += added;
  float factor = parameters[0].factor;
  if (BUFFER_LEFT_SCALE != 0) factor *= load_real(BUFFER_LEFT_SCALE, offset_at(LEFT_SCALE, batch, row, column), TYPE_LEFT_SCALE);
  if (BUFFER_RIGHT_SCALE != 0) factor *= load_real(BUFFER_RIGHT_SCALE, offset_at(RIGHT_SCALE, batch, row, column), TYPE_RIGHT_SCALE);
  number *= factor;
  if (IS_ADDED_SCALED == 0 && BUFFER_ADDED != 0) number += added;
  if (HAS_LEFT_OUT != 0 && is_left_out(column)) number = 0.0f;
  if (BUFFER_OUTPUT_SCALE != 0) {
    const float scale = load_real(BUFFER_OUTPUT_SCALE, offset_at(OUTPUT_SCALE, batch, row, column), TYPE_OUTPUT_SCALE);
    number = nearest_even(nearest_quotient(number, scale));
    if (BUFFER_OUTPUT_ZERO != 0) number += load_real(BUFFER_OUTPUT_ZERO, offset_at(OUTPUT_ZERO, batch, row, column), TYPE_OUTPUT_ZERO);
  }
  return bits_of_real(number, OUTPUT_TYPE);
}

// The sum of all parts.
TOTAL whole_sum(uint element) {
  const uint elements = output_elements();
  TOTAL total = TOTAL_ZERO;
  for (uint part = 0; part < parameters[0].parts; ++part) {
    const uint at = part * elements + element;
#ifdef COMPUTES_WIDE
    total = sum(total, uint3(scratch[3 * at], scratch[3 * at + 1], scratch[3 * at + 2]));
#else
    total += NUMBER_OF_WORD(scratch[at]);
#endif
  }
  return total;
}

uint finished_element(uint element) {
  const uint flat_row = element / parameters[0].columns;
  const uint batch = flat_row / parameters[0].rows;
  return finished(whole_sum(element), batch, added_offset(batch), flat_row - batch * parameters[0].rows,
                  element - flat_row * parameters[0].columns);
}

void finish(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_word = 4 / size;
  const uint last = output_elements() - 1;
  uint at = thread * 4 * per_word;
  uint4 result = uint4(0, 0, 0, 0);
  for (uint w = 0; w < 4; ++w) {
    uint word = 0;
    for (uint part = 0; part < per_word; ++part) word |= placed(finished_element(min(at++, last)), part, size);
    result = with_word(result, w, word);
  }
  output0[thread] = result;
}

// --- sums

#if defined(FEW_ROWS)

#include "product_few_rows.hlsli"

#elif !defined(THREAD_TILE)

void add_up(uint thread, uint lane) {
  const uint elements = output_elements();
  const uint part = thread / elements;
  if (part >= parameters[0].parts) return;
  const uint element = thread - part * elements;
  const uint flat_row = element / parameters[0].columns;
  const uint batch = flat_row / parameters[0].rows;
  const uint row = flat_row - batch * parameters[0].rows;
  const uint column = element - flat_row * parameters[0].columns;
  const uint right_column = HAS_WINDOWS != 0 ? 0 : column;
  const uint left = offset_at(LEFT, batch, row, 0), right = offset_at(RIGHT, batch, 0, right_column);
  const int3 window = window_at(column);
  NUMBER left_zero = ZERO, right_zero = ZERO;
  if (BUFFER_LEFT_ZERO != 0) left_zero = left_zero_number(offset_at(LEFT_ZERO, batch, row, 0));
  if (BUFFER_RIGHT_ZERO != 0) right_zero = right_zero_number(offset_at(RIGHT_ZERO, batch, 0, right_column));
  TOTAL total = TOTAL_ZERO;
  const uint begin = part * parameters[0].part_length;
  const uint end = min(begin + parameters[0].part_length, parameters[0].sum_length);
  for (uint k = begin; k < end; ++k) {
    const Place place = place_of(k);
    uint offset = place.right;
    bool is_inside = true;
    if (HAS_WINDOWS != 0) is_inside = find_in_window(window, place.right, place.tap, offset);
    const NUMBER a = difference(left_number(left + place.left), left_zero);
    // Padding is a 0 that is multiplied, so that an infinite factor gives NaN.
    const NUMBER number = difference(right_number(is_inside ? right + offset : 0), right_zero);
    const NUMBER b = is_inside ? number : ZERO;
    total = sum(total, whole_product(a, b));
  }
#ifdef COMPUTES_WIDE
  scratch[3 * thread] = total.x;
  scratch[3 * thread + 1] = total.y;
  scratch[3 * thread + 2] = total.z;
#else
  scratch[thread] = WORD_OF(total);
#endif
}

#else

#define TILE (16 * THREAD_TILE)
#define LOADS (TILE * DEPTH / GROUP_SIZE)  // of a thread, of each matrix for a slice

// Two slices of each matrix, one of which is filled while the other is multiplied.
#ifdef VECTORS
#define PITCH (TILE + 4)  // so that neighboring elements of a sum are in different banks
groupshared float left_tile[2 * DEPTH * PITCH];
groupshared float4 right_tile[2 * DEPTH * TILE / 4];
// With windows: where the elements of a slice are in the right matrix, from the offset of a window on, and how far their
// taps are from the window's first one.
groupshared uint4 places[2 * DEPTH];
#else
#define PITCH (TILE + 4)  // so that neighboring elements of a sum are in different banks
groupshared NUMBER left_tile[2 * DEPTH * PITCH];
groupshared NUMBER right_tile[2 * DEPTH * PITCH];
// The places of a slice's elements.
groupshared uint place_left[2 * DEPTH];
groupshared uint place_right[2 * DEPTH];
groupshared int place_z[2 * DEPTH];
groupshared int place_y[2 * DEPTH];
groupshared int place_x[2 * DEPTH];

void store_place(uint at, uint k) {
  const Place place = place_of(k);
  place_left[at] = place.left;
  place_right[at] = place.right;
  place_z[at] = place.tap.x;
  place_y[at] = place.tap.y;
  place_x[at] = place.tap.z;
}

Place stored_place(uint at) {
  Place place;
  place.left = place_left[at];
  place.right = place_right[at];
  place.tap = int3(place_z[at], place_y[at], place_x[at]);
  return place;
}

#endif

// What a group computes, and what a thread of it loads.
struct Tile {
  uint part, batch, row, column;
  uint left, right, left_zero, right_zero, added;  // offsets of the batch
  uint end;                                        // of the part of the sum
};

// Load `i` of a thread: `side` is a row or column of the tile, `depth` an element of the slice. With VECTORS, the first
// of four that lie beside each other.
struct Load {
  uint side, depth;
};

Load load_by_side(uint lane, uint i) {
  Load load;
#ifdef VECTORS
  load.side = lane % (TILE / 4) * 4;
  load.depth = lane / (TILE / 4) + GROUP_SIZE / (TILE / 4) * i;
#else
  load.side = lane % TILE;
  load.depth = lane / TILE + GROUP_SIZE / TILE * i;
#endif
  return load;
}

Load load_by_depth(uint lane, uint i) {
  Load load;
#ifdef VECTORS
  load.side = lane / (DEPTH / 4) + GROUP_SIZE / (DEPTH / 4) * i;
  load.depth = lane % (DEPTH / 4) * 4;
#else
  load.side = lane / DEPTH + GROUP_SIZE / DEPTH * i;
  load.depth = lane % DEPTH;
#endif
  return load;
}

Load left_load(uint lane, uint i) {
  if (IS_LEFT_READ_BY_ROW != 0) return load_by_side(lane, i);
  return load_by_depth(lane, i);
}

Load right_load(uint lane, uint i) {
  if (IS_RIGHT_READ_BY_DEPTH != 0) return load_by_depth(lane, i);
  return load_by_side(lane, i);
}

#ifdef VECTORS
// Where a load begins, in vectors. Rows and columns outside of a matrix are replaced by its last ones: these only reach
// sums that are not stored.
uint left_begin(Tile tile, Load load, uint k) {
  const uint row = min(tile.row + load.side, parameters[0].rows - (IS_LEFT_READ_BY_ROW != 0 ? 4 : 1));
  return (tile.left + row * parameters[0].row_strides[LEFT] + (k + load.depth) * parameters[0].left_depth_stride) / 4;
}

uint right_begin(Tile tile, Load load, uint k) {
  const uint column = min(tile.column + load.side, parameters[0].columns - 4);
  return (tile.right + column * parameters[0].column_strides[RIGHT] + (k + load.depth) * parameters[0].right_depth_stride) / 4;
}

// `rest` elements of the part of the sum are left from the slice on; where the load has none, anything is loaded.
float4 loaded_vector(uint buffer, Load load, uint at, uint rest) {
  if (HAS_REST != 0 && load.depth >= rest) at = 0;
  return asfloat(load_vector(buffer, at));
}

uint padded_width() { return (parameters[0].output_extents[2] + 3) / 4 * 4; }
uint padded_columns() { return parameters[0].output_extents[0] * parameters[0].output_extents[1] * padded_width(); }

// Where the windows of four columns begin, and the offset of that.
struct Window {
  uint offset;
  int3 at;
};

Window window_of(Tile tile, uint side) {
  const uint padded = min(tile.column + side, padded_columns() - 1);
  const uint row = padded / padded_width();
  Window window;
  window.at = window_at(row * parameters[0].output_extents[2]);
  window.at.z += int(padded - row * padded_width()) * parameters[0].steps[2];
  window.offset = tile.right + uint(window.at.x) * parameters[0].input_strides[0] +
                  uint(window.at.y) * parameters[0].input_strides[1] + uint(window.at.z) * parameters[0].input_strides[2];
  return window;
}

// Behind the end of the part of the sum elements are outside of all windows.
void store_place(uint at, uint k, uint end) {
  const Place place = place_of(k);
  const uint offset = place.right + uint(place.tap.x) * parameters[0].input_strides[0] +
                      uint(place.tap.y) * parameters[0].input_strides[1] + uint(place.tap.z) * parameters[0].input_strides[2];
  places[at] = uint4(offset, k < end ? uint(place.tap.x) : 0x40000000u, uint(place.tap.y), uint(place.tap.z));
}

// The elements of four columns, of which those in `inside` count.
float4 loaded_windows(Window window, uint at, out uint inside) {
  const uint4 place = places[at];
  const int3 position = window.at + int3(place.yzw);
  const bool is_row = uint(position.x) < parameters[0].input_extents[0] && uint(position.y) < parameters[0].input_extents[1];
  const uint step = uint(parameters[0].steps[2]);
  const uint stride = step * parameters[0].input_strides[2];
  const uint first = window.offset + place.x;
  uint4 numbers = uint4(0, 0, 0, 0);
  inside = 0;
  [unroll]
  for (uint e = 0; e < 4; ++e) {
    const bool is_inside = is_row && uint(position.z) + e * step < parameters[0].input_extents[2];
    if (is_inside) inside |= 1u << e;
    const uint word = load_word(BUFFER_RIGHT, is_inside ? first + e * stride : 0);
    if (e == 0) numbers.x = word;
    if (e == 1) numbers.y = word;
    if (e == 2) numbers.z = word;
    if (e == 3) numbers.w = word;
  }
  return asfloat(numbers);
}

float4 those_inside(float4 numbers, uint inside) {
  return float4((inside & 1) != 0 ? numbers.x : 0.0f, (inside & 2) != 0 ? numbers.y : 0.0f,
                (inside & 4) != 0 ? numbers.z : 0.0f, (inside & 8) != 0 ? numbers.w : 0.0f);
}

uint left_place(uint buffer, uint depth, uint row) { return (buffer * DEPTH + depth) * PITCH + row; }
uint right_place(uint buffer, Load load) { return ((buffer * DEPTH + load.depth) * TILE + load.side) / 4; }

void store_left(uint buffer, Load load, float4 numbers) {
  const uint at = left_place(buffer, load.depth, load.side);
  uint step = PITCH;
  if (IS_LEFT_READ_BY_ROW != 0) step = 1;
  left_tile[at] = numbers.x;
  left_tile[at + step] = numbers.y;
  left_tile[at + 2 * step] = numbers.z;
  left_tile[at + 3 * step] = numbers.w;
}
#else
NUMBER loaded_left(Tile tile, Load load, uint k, uint buffer) {
  const uint row = tile.row + load.side;
  const bool is_inside = row < parameters[0].rows && k + load.depth < tile.end;
  uint offset = (k + load.depth) * parameters[0].left_depth_stride;
  if (HAS_WINDOWS != 0) offset = place_left[buffer * DEPTH + load.depth];
  NUMBER number = left_number(is_inside ? tile.left + row * parameters[0].row_strides[LEFT] + offset : 0);
  if (BUFFER_LEFT_ZERO != 0)
    number -= left_zero_number(is_inside ? tile.left_zero + row * parameters[0].row_strides[LEFT_ZERO] : 0);
  return is_inside ? number : NUMBER(0);
}

// `window` is that of the thread's column, which then is the same for all loads.
NUMBER loaded_right(Tile tile, Load load, int3 window, uint k, uint buffer) {
  const uint column = tile.column + load.side;
  bool is_inside = column < parameters[0].columns && k + load.depth < tile.end;
  uint offset = 0, zero = tile.right_zero;
  if (HAS_WINDOWS != 0) {
    const Place place = stored_place(buffer * DEPTH + load.depth);
    const bool is_found = find_in_window(window, place.right, place.tap, offset);
    is_inside = is_inside && is_found;
  } else {
    offset = (k + load.depth) * parameters[0].right_depth_stride + column * parameters[0].column_strides[RIGHT];
    zero += column * parameters[0].column_strides[RIGHT_ZERO];
  }
  NUMBER number = right_number(is_inside ? tile.right + offset : 0);
  if (BUFFER_RIGHT_ZERO != 0) number -= right_zero_number(is_inside ? zero : 0);
  return is_inside ? number : NUMBER(0);
}

uint tile_at(uint buffer, Load load) { return (buffer * DEPTH + load.depth) * PITCH + load.side; }

NUMBER4 right_columns(uint at) {
  return NUMBER4(right_tile[at], right_tile[at + 1], right_tile[at + 2], right_tile[at + 3]);
}
#endif

// Stores the sums of four columns.
void store(Tile tile, uint row, uint column, NUMBER4 sums) {
  const uint columns = parameters[0].columns;
  uint after = columns;  // the column behind those that are there
#ifdef VECTORS
  if (HAS_WINDOWS != 0) {
    const uint image_row = column / padded_width();
    if (column >= padded_columns()) return;
    column = image_row * parameters[0].output_extents[2] + column - image_row * padded_width();
    after = (image_row + 1) * parameters[0].output_extents[2];
  }
#endif
  if (row >= parameters[0].rows || column >= after) return;
  const uint element = (tile.batch * parameters[0].rows + row) * columns + column;
  if (IS_DIRECT != 0) {
    uint4 result = uint4(0, 0, 0, 0);
    [loop]
    for (uint w = 0; w < 4; ++w) {
      const NUMBER total = w == 0 ? sums.x : w == 1 ? sums.y : w == 2 ? sums.z : sums.w;
      result = with_word(result, w, finished(total, tile.batch, tile.added, row, column + w));
    }
    output0[element / 4] = result;
    return;
  }
  const uint at = tile.part * output_elements() + element;
  scratch[at] = WORD_OF(sums.x);
  if (column + 1 < after) scratch[at + 1] = WORD_OF(sums.y);
  if (column + 2 < after) scratch[at + 2] = WORD_OF(sums.z);
  if (column + 3 < after) scratch[at + 3] = WORD_OF(sums.w);
}

Tile tile_of(uint group) {
  Tile tile;
  const uint columns = group / parameters[0].row_tiles;
  const uint batches = columns / parameters[0].column_tiles;
  tile.row = (group - columns * parameters[0].row_tiles) * TILE;
  tile.column = (columns - batches * parameters[0].column_tiles) * TILE;
  tile.part = batches / parameters[0].batches;
  tile.batch = batches - tile.part * parameters[0].batches;
  tile.left = batch_offset(LEFT, tile.batch);
  tile.right = batch_offset(RIGHT, tile.batch);
  tile.left_zero = BUFFER_LEFT_ZERO != 0 ? batch_offset(LEFT_ZERO, tile.batch) : 0;
  tile.right_zero = BUFFER_RIGHT_ZERO != 0 ? batch_offset(RIGHT_ZERO, tile.batch) : 0;
  tile.added = added_offset(tile.batch);
  tile.end = min((tile.part + 1) * parameters[0].part_length, parameters[0].sum_length);
  return tile;
}

// Sums of a thread: rows 0 to 3 and 4 to 7 are half a tile apart, and columns likewise.
#if THREAD_TILE == 8
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define DECLARE(i) NUMBER4 low##i = NUMBER4(0, 0, 0, 0), high##i = NUMBER4(0, 0, 0, 0);
#define MULTIPLY(i) { const NUMBER a = left_tile[left_from + ROW_OF(i)]; low##i += a * low; high##i += a * high; }
#define COLLECT(i) sums[2 * i] = low##i; sums[2 * i + 1] = high##i;
#else
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3)
#define DECLARE(i) NUMBER4 low##i = NUMBER4(0, 0, 0, 0);
#define MULTIPLY(i) low##i += left_tile[left_from + ROW_OF(i)] * low;
#define COLLECT(i) sums[i] = low##i;
#endif
#define ROW_OF(i) ((i) % 4 + (i) / 4 * 64)
#define ROW_VECTORS (THREAD_TILE / 4)

void add_up(uint thread, uint lane) {
  const Tile tile = tile_of(thread / GROUP_SIZE);
  const uint begin = tile.part * parameters[0].part_length;
#if defined(VECTORS) && THREAD_TILE == 8
  // 32 threads side by side take 4 by 8 blocks: they read the fewest different elements of both matrices.
  const uint blocks = lane / 32;
  const uint block = lane % 32;
  const uint thread_row = (blocks / 2 * 4 + block / 8) * 4;
  const uint thread_column = (blocks % 2 * 8 + block % 8) * 4;
#else
  const uint thread_row = lane / 16 * 4, thread_column = lane % 16 * 4;
#endif
  EACH_ROW(DECLARE)
  // Each round loads a slice while it multiplies the one before.
#ifdef VECTORS
  const Load right_load_ = load_by_side(lane, 0);  // the others are deeper
  const float4 none = float4(0.0f, 0.0f, 0.0f, 0.0f);
  uint left_at[LOADS / 4];
  uint right_at[LOADS / 4];
  uint inside[LOADS / 4];
  float4 left_next[LOADS / 4];
  float4 right_next[LOADS / 4];
  uint rest = tile.end - min(begin, tile.end);  // of the part of the sum, from the next slice on
  Window window;
  if (HAS_WINDOWS != 0) {
    window = window_of(tile, right_load_.side);
    if (lane < 2 * DEPTH) store_place(lane, begin + lane, tile.end);
    GroupMemoryBarrierWithGroupSync();
  }
  [unroll]
  for (uint f = 0; f < LOADS / 4; ++f) {
    left_at[f] = left_begin(tile, left_load(lane, f), begin);
    left_next[f] = loaded_vector(BUFFER_LEFT, left_load(lane, f), left_at[f], rest);
    inside[f] = 15;
    if (HAS_WINDOWS != 0) {
      right_next[f] = loaded_windows(window, load_by_side(lane, f).depth, inside[f]);
    } else {
      right_at[f] = right_begin(tile, load_by_side(lane, f), begin);
      right_next[f] = loaded_vector(BUFFER_RIGHT, load_by_side(lane, f), right_at[f], rest);
    }
  }
  const uint left_step = DEPTH * parameters[0].left_depth_stride / 4;
  const uint right_step = DEPTH * parameters[0].right_depth_stride / 4;
  for (uint slice = 0; slice < BASE; ++slice) {
    const uint buffer = slice & 1;
    if (HAS_REST != 0 && rest < DEPTH) {
      [unroll]
      for (uint i = 0; i < LOADS / 4; ++i) {
        if (left_load(lane, i).depth >= rest) left_next[i] = none;
        if (HAS_WINDOWS == 0 && load_by_side(lane, i).depth >= rest) right_next[i] = none;
      }
    }
    [unroll]
    for (uint j = 0; j < LOADS / 4; ++j) {
      store_left(buffer, left_load(lane, j), left_next[j]);
      right_tile[right_place(buffer, load_by_side(lane, j))] =
          HAS_WINDOWS != 0 ? those_inside(right_next[j], inside[j]) : right_next[j];
    }
    GroupMemoryBarrierWithGroupSync();
    rest -= min(rest, DEPTH);
    // The last slice is loaded twice where nothing else prevents a load behind it: a branch costs more.
    const uint next = HAS_REST != 0 ? slice + 1 : min(slice + 1, BASE - 1);
    [unroll]
    for (uint l = 0; l < LOADS / 4; ++l) {
      left_next[l] = loaded_vector(BUFFER_LEFT, left_load(lane, l), left_at[l] + next * left_step, rest);
      if (HAS_WINDOWS != 0) {
        right_next[l] = loaded_windows(window, (1 - buffer) * DEPTH + load_by_side(lane, l).depth, inside[l]);
      } else {
        right_next[l] =
            loaded_vector(BUFFER_RIGHT, load_by_side(lane, l), right_at[l] + next * right_step, rest);
      }
    }
    // No thread reads the places of this slice any more.
    if (HAS_WINDOWS != 0 && lane < DEPTH) store_place(buffer * DEPTH + lane, begin + (slice + 2) * DEPTH + lane, tile.end);
    [unroll]
    for (uint d = 0; d < DEPTH; ++d) {
      const uint left_from = left_place(buffer, d, thread_row);
      const uint right_from = ((buffer * DEPTH + d) * TILE + thread_column) / 4;
      const float4 low = right_tile[right_from];
#if THREAD_TILE == 8
      const float4 high = right_tile[right_from + 16];
#endif
      EACH_ROW(MULTIPLY)
    }
  }
#else
  const int3 window = window_at(min(tile.column + lane % TILE, parameters[0].columns - 1));
  if (HAS_WINDOWS != 0 && lane < DEPTH) store_place(lane, begin + lane);
  GroupMemoryBarrierWithGroupSync();
  for (uint slice = 0; slice <= BASE; ++slice) {
    const uint buffer = slice & 1;
    const uint k = begin + slice * DEPTH;
    NUMBER left_next[LOADS], right_next[LOADS];
    [unroll]
    for (uint i = 0; i < LOADS; ++i) {
      left_next[i] = loaded_left(tile, left_load(lane, i), k, buffer);
      right_next[i] = loaded_right(tile, right_load(lane, i), window, k, buffer);
    }
    if (slice > 0) {
      [unroll]
      for (uint d = 0; d < DEPTH; ++d) {
        const uint at = ((1 - buffer) * DEPTH + d) * PITCH;
        const uint left_from = at + thread_row;
        const NUMBER4 low = right_columns(at + thread_column);
#if THREAD_TILE == 8
        const NUMBER4 high = right_columns(at + thread_column + 64);
#endif
        EACH_ROW(MULTIPLY)
      }
    }
    [unroll]
    for (uint j = 0; j < LOADS; ++j) {
      left_tile[tile_at(buffer, left_load(lane, j))] = left_next[j];
      right_tile[tile_at(buffer, right_load(lane, j))] = right_next[j];
    }
    if (HAS_WINDOWS != 0 && lane < DEPTH) store_place((1 - buffer) * DEPTH + lane, k + DEPTH + lane);
    GroupMemoryBarrierWithGroupSync();
  }
#endif
  NUMBER4 sums[THREAD_TILE * ROW_VECTORS];
  EACH_ROW(COLLECT)
  [loop]
  for (uint v = 0; v < THREAD_TILE * ROW_VECTORS; ++v)
    store(tile, tile.row + thread_row + ROW_OF(v / ROW_VECTORS), tile.column + thread_column + v % ROW_VECTORS * 64, sums[v]);
}

#endif

void run(uint thread, uint lane) {
  if (STEP == 0) {
    add_up(thread, lane);
  } else if (thread < END_OF_THREADS) {
    finish(thread);
  }
}
