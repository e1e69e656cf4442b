// The tiles of product.hlsl where four neighbours of a matrix are read and stored together: ROWS times COLUMNS, each 64
// or 128, of which a thread has a sixteenth each way. Slices lie in groupshared memory as fours of rows and of columns,
// `quads`. Types, batches and parts are those of product.hlsl.
//
// A slice is loaded while the one before is multiplied, and what was loaded is not looked at before it is stored: a
// thread that tested a number at once would wait for memory.
//
// Without WINDOWS, both matrices are FLOAT32, and fours lie beside each other along one of their axes. The first ROWS
// threads load the left matrix, four vectors each, and as many as COLUMNS from the 128th on the right one.
//
// With WINDOWS, of 64 rows and 128 columns, the right matrix is read through windows of at most 32 taps without divisors:
// a thread knows of each of its four columns which taps lie inside the input, as bits.

#define ROW_QUADS (ROWS / 4)
#define COLUMN_QUADS (COLUMNS / 4)
#define SLICE 16  // elements of the sums

// With WINDOWS, neighbouring threads store neighbouring elements of a sum: one more four between these puts them into
// different banks.
#ifdef WINDOWS
#define LEFT_PITCH (ROW_QUADS + 1)
#else
#define LEFT_PITCH ROW_QUADS
#endif
groupshared float4 left_quads[2 * SLICE * LEFT_PITCH];
groupshared float4 right_quads[2 * SLICE * COLUMN_QUADS];

// Fours are swapped so that threads that store elements of a sum that are four apart use different banks.
uint left_place(uint slice, uint depth, uint quad) { return ((slice & 1) * SLICE + depth) * LEFT_PITCH + (quad ^ (depth / 4 * 2)); }
uint right_place(uint slice, uint depth, uint quad) { return ((slice & 1) * SLICE + depth) * COLUMN_QUADS + (quad ^ (depth / 4 * 2)); }

struct Tile {
  uint part, batch, row, column;
  uint begin, end;  // of the part of the sum
};

Tile tile_of(uint group) {
  Tile tile;
  const uint columns = group / parameters[0].row_tiles;
  const uint batches = columns / parameters[0].column_tiles;
  tile.row = (group - columns * parameters[0].row_tiles) * ROWS;
  tile.column = (columns - batches * parameters[0].column_tiles) * COLUMNS;
  tile.part = batches / parameters[0].batches;
  tile.batch = batches - tile.part * parameters[0].batches;
  tile.begin = tile.part * parameters[0].part_length;
  tile.end = min(tile.begin + parameters[0].part_length, parameters[0].sum_length);
  return tile;
}

// --- loads

float4 numbers_or_zeros(uint4 bits, bool is_inside) {
  return is_inside ? asfloat(bits) : float4(0.0f, 0.0f, 0.0f, 0.0f);
}

#ifndef WINDOWS

// The four vectors of a thread. Rows and columns outside of the matrix are read from its last ones: they only reach sums
// that are not stored.
struct Loader {
  uint at, step;      // vectors: of the first slice, to the next one
  uint stride, most;  // from one of the four to the next; how many times
  uint depth, quad;   // of the first, within a slice
};

// Along the sum: of four rows or columns.
Loader loader_along(uint first, uint thread, uint begin, uint side, uint extent, uint stride) {
  Loader loader;
  loader.quad = thread / 4;
  loader.depth = thread % 4 * 4;
  const uint inside = min(side + loader.quad * 4, extent - 1);
  loader.at = (first + inside * stride + begin + loader.depth) / 4;
  loader.step = SLICE / 4;
  loader.stride = stride / 4;
  loader.most = extent - 1 - inside;
  return loader;
}

// Along rows or columns: of every fourth element of the sum.
Loader loader_across(uint first, uint thread, uint begin, uint side, uint extent, uint depth_stride, uint quad_count) {
  Loader loader;
  loader.quad = thread % quad_count;
  loader.depth = thread / quad_count;
  loader.at = (first + min(side + loader.quad * 4, extent - 4) + (begin + loader.depth) * depth_stride) / 4;
  loader.step = SLICE * depth_stride / 4;
  loader.stride = depth_stride;
  loader.most = 3;
  return loader;
}

bool loads_left(uint lane) { return lane < ROWS; }
bool loads_right(uint lane) { return lane >= 128 && lane < 128 + COLUMNS; }

Loader make_loader(Tile tile, uint lane) {
  Loader loader;
  if (lane < 128) {
    const uint first = batch_offset(LEFT, tile.batch), extent = parameters[0].rows;
    if (IS_LEFT_READ_BY_ROW == 0) {
      loader = loader_along(first, lane, tile.begin, tile.row, extent, parameters[0].row_strides[LEFT]);
    } else {
      loader = loader_across(first, lane, tile.begin, tile.row, extent, parameters[0].left_depth_stride, ROW_QUADS);
    }
  } else {
    const uint first = batch_offset(RIGHT, tile.batch), extent = parameters[0].columns;
    if (IS_RIGHT_READ_BY_DEPTH != 0) {
      loader = loader_along(first, lane - 128, tile.begin, tile.column, extent, parameters[0].column_strides[RIGHT]);
    } else {
      loader = loader_across(first, lane - 128, tile.begin, tile.column, extent, parameters[0].right_depth_stride, COLUMN_QUADS);
    }
  }
  return loader;
}

#define IS_LEFT_ALONG (IS_LEFT_READ_BY_ROW == 0)
#define IS_RIGHT_ALONG (IS_RIGHT_READ_BY_DEPTH != 0)

bool is_inside(Tile tile, Loader loader, uint i, uint slice, bool is_along) {
  return tile.begin + slice * SLICE + loader.depth + (is_along ? 0 : 4 * i) < tile.end;
}

// Of vector `i` of a slice, or of any where that is behind the part of the sum.
uint vector_at(Tile tile, Loader loader, uint i, uint slice, bool is_along) {
  const uint at = loader.at + slice * loader.step + (is_along ? min(i, loader.most) : i) * loader.stride;
  return is_inside(tile, loader, i, slice, is_along) ? at : 0;
}

struct Slice {
  uint4 bits[4];
};

void prepare(Tile tile, uint lane, uint slice) {}

Slice load(Tile tile, Loader loader, uint lane, uint slice) {
  Slice next;
  if (lane < 128) {
    [unroll] for (uint i = 0; i < 4; ++i) next.bits[i] = load_vector(BUFFER_LEFT, vector_at(tile, loader, i, slice, IS_LEFT_ALONG));
  } else {
    [unroll] for (uint j = 0; j < 4; ++j) next.bits[j] = load_vector(BUFFER_RIGHT, vector_at(tile, loader, j, slice, IS_RIGHT_ALONG));
  }
  return next;
}

void store(Tile tile, Loader loader, uint lane, uint slice, Slice next) {
  const bool is_along = lane < 128 ? IS_LEFT_ALONG : IS_RIGHT_ALONG;
  float4 numbers[4];
  [unroll] for (uint i = 0; i < 4; ++i) numbers[i] = numbers_or_zeros(next.bits[i], is_inside(tile, loader, i, slice, is_along));
  float4 fours[4];
  fours[0] = is_along ? float4(numbers[0].x, numbers[1].x, numbers[2].x, numbers[3].x) : numbers[0];
  fours[1] = is_along ? float4(numbers[0].y, numbers[1].y, numbers[2].y, numbers[3].y) : numbers[1];
  fours[2] = is_along ? float4(numbers[0].z, numbers[1].z, numbers[2].z, numbers[3].z) : numbers[2];
  fours[3] = is_along ? float4(numbers[0].w, numbers[1].w, numbers[2].w, numbers[3].w) : numbers[3];
  const uint step = is_along ? 1 : 4;
  if (loads_left(lane)) {
    [unroll] for (uint j = 0; j < 4; ++j) left_quads[left_place(slice, loader.depth + j * step, loader.quad)] = fours[j];
  } else if (loads_right(lane)) {
    [unroll] for (uint k = 0; k < 4; ++k) right_quads[right_place(slice, loader.depth + k * step, loader.quad)] = fours[k];
  }
}

#else

// Of the elements of a slice: where they are in a row of the left matrix, and in the input from where a window begins;
// the tap as a bit, none behind the end of the part of the sum.
groupshared uint place_left[2 * SLICE];
groupshared uint place_right[2 * SLICE];
groupshared uint place_tap[2 * SLICE];

struct Loader {
  uint4 at;    // where the windows of the four columns begin
  uint4 taps;  // that lie inside the input, as bits
  uint left;   // where the rows begin
};

bool is_inside(uint axis, int position) { return uint(position) < parameters[0].input_extents[axis]; }

uint tap_count() { return parameters[0].taps[0] * parameters[0].taps[1] * parameters[0].taps[2]; }

// The taps of a window that lie inside the input.
uint taps_inside(int3 window) {
  uint bits = 0;
  const uint taps = tap_count();
  [loop]
  for (uint tap = 0; tap < taps; ++tap) {
    const int3 position = window + place_of(tap).tap;
    if (is_inside(0, position.x) && is_inside(1, position.y) && is_inside(2, position.z)) bits |= 1u << tap;
  }
  return bits;
}

uint input_offset(int3 position) {
  return uint(position.x) * parameters[0].input_strides[0] + uint(position.y) * parameters[0].input_strides[1] +
         uint(position.z) * parameters[0].input_strides[2];
}

Loader make_loader(Tile tile, uint lane) {
  Loader loader;
  loader.at = loader.taps = uint4(0, 0, 0, 0);
  loader.left = batch_offset(LEFT, tile.batch);
  const uint right = batch_offset(RIGHT, tile.batch);
  const uint column = tile.column + lane % COLUMN_QUADS * 4;
  [loop]
  for (uint i = 0; i < 4; ++i) {
    const int3 window = window_at(min(column + i, parameters[0].columns - 1));
    loader.at = with_word(loader.at, i, right + input_offset(window));
    loader.taps = with_word(loader.taps, i, taps_inside(window));
  }
  return loader;
}

void prepare(Tile tile, uint lane, uint slice) {
  if (lane >= SLICE) return;
  const uint k = tile.begin + slice * SLICE + lane;
  const Place place = place_of(k);
  const uint at = (slice & 1) * SLICE + lane;
  place_left[at] = place.left;
  place_right[at] = place.right + input_offset(place.tap);
  place_tap[at] = k < tile.end ? 1u << (k % tap_count()) : 0;
}

// A thread loads four rows of one element of the sum, and four columns of two: where they are, or 0.
uint4 left_elements(Tile tile, Loader loader, uint lane, uint slice) {
  const uint place = (slice & 1) * SLICE + lane % SLICE;
  const uint row = tile.row + lane / SLICE * 4, last = parameters[0].rows - 1;
  const uint4 rows = uint4(min(row, last), min(row + 1, last), min(row + 2, last), min(row + 3, last));
  const uint4 at = loader.left + rows * parameters[0].row_strides[LEFT] + place_left[place];
  return place_tap[place] != 0 ? at : uint4(0, 0, 0, 0);
}

uint4 right_elements(Loader loader, uint lane, uint slice, uint i) {
  const uint place = (slice & 1) * SLICE + lane / COLUMN_QUADS + 8 * i;
  const uint4 at = loader.at + place_right[place];
  const uint tap = place_tap[place];
  return uint4((loader.taps.x & tap) != 0 ? at.x : 0, (loader.taps.y & tap) != 0 ? at.y : 0,
               (loader.taps.z & tap) != 0 ? at.z : 0, (loader.taps.w & tap) != 0 ? at.w : 0);
}

uint4 words_of(uint buffer, uint4 at, uint size) {
  const uint per_word = 4 / size;
  return uint4(load_word(buffer, at.x / per_word), load_word(buffer, at.y / per_word), load_word(buffer, at.z / per_word),
               load_word(buffer, at.w / per_word));
}

float4 numbers_of(uint4 words, uint4 at, uint type) {
  const uint size = size_of(type);
  return float4(real_of(element_of_word(words.x, at.x, size), type), real_of(element_of_word(words.y, at.y, size), type),
                real_of(element_of_word(words.z, at.z, size), type), real_of(element_of_word(words.w, at.w, size), type));
}

struct Slice {
  uint4 left, right0, right1;
};

Slice load(Tile tile, Loader loader, uint lane, uint slice) {
  Slice next;
  next.left = words_of(BUFFER_LEFT, left_elements(tile, loader, lane, slice), size_of(TYPE_LEFT));
  next.right0 = words_of(BUFFER_RIGHT, right_elements(loader, lane, slice, 0), size_of(TYPE_RIGHT));
  next.right1 = words_of(BUFFER_RIGHT, right_elements(loader, lane, slice, 1), size_of(TYPE_RIGHT));
  return next;
}

float4 right_numbers(Loader loader, uint lane, uint slice, uint i, uint4 words) {
  const float4 numbers = numbers_of(words, right_elements(loader, lane, slice, i), TYPE_RIGHT);
  const uint tap = place_tap[(slice & 1) * SLICE + lane / COLUMN_QUADS + 8 * i];
  return float4((loader.taps.x & tap) != 0 ? numbers.x : 0.0f, (loader.taps.y & tap) != 0 ? numbers.y : 0.0f,
                (loader.taps.z & tap) != 0 ? numbers.z : 0.0f, (loader.taps.w & tap) != 0 ? numbers.w : 0.0f);
}

void store(Tile tile, Loader loader, uint lane, uint slice, Slice next) {
  const float4 left = numbers_of(next.left, left_elements(tile, loader, lane, slice), TYPE_LEFT);
  left_quads[left_place(slice, lane % SLICE, lane / SLICE)] =
      numbers_or_zeros(asuint(left), place_tap[(slice & 1) * SLICE + lane % SLICE] != 0);
  right_quads[right_place(slice, lane / COLUMN_QUADS, lane % COLUMN_QUADS)] = right_numbers(loader, lane, slice, 0, next.right0);
  right_quads[right_place(slice, lane / COLUMN_QUADS + 8, lane % COLUMN_QUADS)] = right_numbers(loader, lane, slice, 1, next.right1);
}

#endif

// --- sums

void store_sums(Tile tile, uint row, uint column, float4 sums) {
  const uint columns = parameters[0].columns;
  if (row >= parameters[0].rows || column >= columns) return;
  const uint element = (tile.batch * parameters[0].rows + row) * columns + column;
  const uint at = tile.part * output_elements() + element;
  uint4 result = uint4(0, 0, 0, 0);
  [loop]
  for (uint w = 0; w < 4; ++w) {
    const float total = w == 0 ? sums.x : w == 1 ? sums.y : w == 2 ? sums.z : sums.w;
    if (IS_DIRECT != 0) {
      result = with_word(result, w, finished(total, tile.batch, row, column + w));
    } else if (column + w < columns) {
      scratch[at + w] = asuint(total);
    }
  }
  if (IS_DIRECT != 0) output0[element / 4] = result;
}

// Fours of rows and columns of a thread are 64 apart.
#if COLUMNS == 128
#define COLUMN_FOURS 2
#define DECLARE(i, part, rows) float4 low##i = float4(0, 0, 0, 0), high##i = float4(0, 0, 0, 0);
#define MULTIPLY(i, part, rows) low##i += rows.part * low; high##i += rows.part * high;
#define COLLECT(i, part, rows) sums[2 * i] = low##i; sums[2 * i + 1] = high##i;
#else
#define COLUMN_FOURS 1
#define DECLARE(i, part, rows) float4 low##i = float4(0, 0, 0, 0);
#define MULTIPLY(i, part, rows) low##i += rows.part * low;
#define COLLECT(i, part, rows) sums[i] = low##i;
#endif
#if ROWS == 128
#define EACH_ROW(DO) DO(0, x, low_rows) DO(1, y, low_rows) DO(2, z, low_rows) DO(3, w, low_rows) DO(4, x, high_rows) DO(5, y, high_rows) DO(6, z, high_rows) DO(7, w, high_rows)
#else
#define EACH_ROW(DO) DO(0, x, low_rows) DO(1, y, low_rows) DO(2, z, low_rows) DO(3, w, low_rows)
#endif
#define THREAD_FOURS (ROWS / 16 * COLUMN_FOURS)

// fxc would take long to unroll; drivers do it.
#ifdef DMLOP_VULKAN
#define UNROLL_SLICE [unroll]
#else
#define UNROLL_SLICE [loop]
#endif

void add_up(uint thread, uint lane) {
  const Tile tile = tile_of(thread / GROUP_SIZE);
  // 32 neighbouring threads share 4 fours of rows and 8 of columns.
  const uint row_quad = lane / 8 % 4 + lane / 64 * 4, column_quad = lane % 8 + lane / 32 % 2 * 8;
  const Loader loader = make_loader(tile, lane);
  prepare(tile, lane, 0);
  GroupMemoryBarrierWithGroupSync();
  Slice next = load(tile, loader, lane, 0);
  EACH_ROW(DECLARE)
  for (uint slice = 0; slice < BASE; ++slice) {
    store(tile, loader, lane, slice, next);
    prepare(tile, lane, slice + 1);
    GroupMemoryBarrierWithGroupSync();
    next = load(tile, loader, lane, slice + 1);
    UNROLL_SLICE for (uint d = 0; d < SLICE; ++d) {
      const uint left_at = left_place(slice, d, row_quad), right_at = right_place(slice, d, column_quad);
      const float4 low_rows = left_quads[left_at];
#if ROWS == 128
      const float4 high_rows = left_quads[left_at + 16];
#endif
      const float4 low = right_quads[right_at];
#if COLUMNS == 128
      const float4 high = right_quads[right_at + 16];
#endif
      EACH_ROW(MULTIPLY)
    }
  }
  float4 sums[THREAD_FOURS];
  EACH_ROW(COLLECT)
  [loop]
  for (uint v = 0; v < THREAD_FOURS; ++v) {
    const uint i = v / COLUMN_FOURS;
    store_sums(tile, tile.row + row_quad * 4 + i % 4 + i / 4 * 64, tile.column + column_quad * 4 + v % COLUMN_FOURS * 64, sums[v]);
  }
}
