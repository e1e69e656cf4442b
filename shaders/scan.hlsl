// Running sums and products: ScanKernel (lib/ops/kernels/scan.hpp). Sequences are cut into blocks. The total of each
// block, a cell, is one of 16 that have a total on the next level, and so on; then each level's totals become those of
// all cells before, from the last level down. In the end a thread computes the elements of 16 bytes of output from
// the beginning of their block on.
//
// Packed tensors with enough sequences need one stage: the lanes of a row, a power of two, scan some vectors each at a
// time, neighbors beside each other; or the lanes of a vector of columns scan some rows each, one below the other. While
// all elements that a group has seen are usual numbers, its sums are pairs without levels: simple ones. Where there are
// very many columns, a thread scans four of FLOAT32 alone.
//
// A cell is four words: a sum of floats as a pair and its level, a product of floats (pairs.hlsli), or the words of an
// integer. Sums of FLOAT32 that leave the range of floats have level 1: they are scaled by 2^-84.
#include "parameters/scan.hlsli"
#define PARAMETERS ScanParameters
#define WHOLE_GROUPS
#define LOADS_VECTORS
#include "elements.hlsli"
#include "functions.hlsli"
#include "pairs.hlsli"

SCAN_SPECIALIZATION(SPECIALIZED)

#define VECTORS_MOST 8

// Direct3D's compiler takes long to unroll loops.
#ifdef DMLOP_VULKAN
#define LOOP [unroll]
#define EACH_VECTOR(v) [unroll] for (uint v = 0; v < VECTORS_MOST; ++v) if (v < VECTORS)
#else
#define LOOP [loop]
#define EACH_VECTOR(v) [loop] for (uint v = 0; v < VECTORS; ++v)
#endif

// What STEP says of a stage; BASE is its level, or the binary logarithm of the lanes of a row.

bool is_real() { return is_floating(TYPE); }

uint4 empty_cell() {
  if (IS_PRODUCT == 0) return uint4(0, 0, 0, 0);
  return is_real() ? product_cell(float2(1.0f, 0.0f), 0, 1.0f) : uint4(1, 0, 0, 0);
}

#define UNIT_EXPONENT 84
#define LARGEST 1.23794004e27f  // 2^90: so many sums of so many of these are in range
bool has_levels() { return TYPE == FLOAT32 && IS_PRODUCT == 0; }

uint4 sum_cell(float2 sum, uint level) { return uint4(asuint(sum.x), asuint(sum.y), level, 0); }

// A sum at the level that it should have.
uint4 leveled(float2 sum, uint level) {
  const bool is_large = level == 0 && abs_of(sum.x) > LARGEST;
  const bool is_small = level != 0 && abs_of(sum.x) < 0.0625f;
  const float factor = is_large ? power_of_two(-UNIT_EXPONENT) : is_small ? power_of_two(UNIT_EXPONENT) : 1.0f;
  return sum_cell(sum * factor, is_large ? 1 : is_small ? 0 : level);
}

// Sums of one level.
float2 joined_pairs(float2 a, float2 b) {
  const float2 whole = two_sum(a.x, b.x);
  return float2(whole.x, whole.y + (a.y + b.y));
}

uint4 joined(uint4 a, uint4 b) {
  if (!is_real()) return uint4(IS_PRODUCT != 0 ? product(a.xy, b.xy) : sum(a.xy, b.xy), 0, 0);
  if (IS_PRODUCT != 0) return joined_products(a, b);
  if (!has_levels()) return sum_cell(joined_pairs(pair_of(a), pair_of(b)), 0);
  const uint level = a.z | b.z;
  const float down = power_of_two(-UNIT_EXPONENT);
  return leveled(joined_pairs(pair_of(a) * (a.z != level ? down : 1.0f), pair_of(b) * (b.z != level ? down : 1.0f)), level);
}

uint4 cell_of_bits(uint bits) {
  if (!is_real()) return uint4(bits, 0, 0, 0);
  const float value = real_of(bits, TYPE);
  if (IS_PRODUCT != 0) return factor_cell(value);
  return has_levels() ? leveled(float2(value, 0.0f), 0) : sum_cell(float2(value, 0.0f), 0);
}

// Where a sequence stands: `outer` counts the indices before the axis, `inner` those behind it.
struct Sequence {
  uint outer;
  uint inner;
  uint offset;  // of its first element in the input
};

Sequence sequence_at(uint outer, uint inner) {
  Sequence sequence;
  sequence.outer = outer;
  sequence.inner = inner;
  sequence.offset = 0;
  uint index = outer * parameters[0].inner + inner;
  for (uint step = parameters[0].axes; step > 0; --step) {
    const uint rest = index / parameters[0].extents[step - 1];
    sequence.offset += (index - rest * parameters[0].extents[step - 1]) * parameters[0].strides[step - 1];
    index = rest;
  }
  return sequence;
}

// Element `index` from where the scan begins.
uint4 element_at(Sequence sequence, uint index) {
  const uint place = min(index, parameters[0].length - 1);
  const uint offset =
      sequence.offset + (FROM_END != 0 ? parameters[0].length - 1 - place : place) * parameters[0].stride;
  if (size_of(TYPE) == 8) return uint4(load_bits64(1, offset), 0, 0);
  return cell_of_bits(load_bits(1, offset, size_of(TYPE)));
}

// --- levels

uint4 cell_at(uint at) {
  return uint4(scratch[4 * at], scratch[4 * at + 1], scratch[4 * at + 2], scratch[4 * at + 3]);
}
void store_cell(uint at, uint4 cell) {
  scratch[4 * at] = cell.x;
  scratch[4 * at + 1] = cell.y;
  scratch[4 * at + 2] = cell.z;
  scratch[4 * at + 3] = cell.w;
}

// Where a cell of a level stands.
uint place_of(uint level, Sequence sequence, uint cell) {
  const uint row = sequence.outer * parameters[0].counts[level] + cell;
  return parameters[0].begins[level] + row * parameters[0].inner + sequence.inner;
}

// The cell of a level that a thread has, and its sequence.
uint cell_of(uint thread, uint count, out Sequence sequence) {
  const uint row = thread / parameters[0].inner;
  const uint outer = row / count;
  sequence = sequence_at(outer, thread - row * parameters[0].inner);
  return row - outer * count;
}

void add_elements(uint thread) {
  Sequence sequence;
  const uint cell = cell_of(thread, parameters[0].counts[0], sequence);
  uint4 total = empty_cell();
  const uint end = min((cell + 1) * BLOCK, parameters[0].length);
  for (uint i = cell * BLOCK; i < end; ++i) total = joined(total, element_at(sequence, i));
  store_cell(place_of(0, sequence, cell), total);
}

void add_cells(uint thread, uint level) {
  Sequence sequence;
  const uint cell = cell_of(thread, parameters[0].counts[level], sequence);
  uint4 total = empty_cell();
  const uint end = min((cell + 1) * BLOCK, parameters[0].counts[level - 1]);
  for (uint i = cell * BLOCK; i < end; ++i) total = joined(total, cell_at(place_of(level - 1, sequence, i)));
  store_cell(place_of(level, sequence, cell), total);
}

// From the prefix of a cell of the next level, or none, to those of its 16.
void spread_prefix(uint thread, uint level) {
  const bool is_last = level + 1 == parameters[0].levels;
  const uint above = min(level + 1, parameters[0].levels - 1);
  Sequence sequence;
  const uint cell = cell_of(thread, is_last ? 1 : parameters[0].counts[above], sequence);
  uint4 prefix = empty_cell();
  if (!is_last) prefix = cell_at(place_of(above, sequence, cell));
  const uint end = min((cell + 1) * BLOCK, parameters[0].counts[level]);
  for (uint i = cell * BLOCK; i < end; ++i) {
    const uint at = place_of(level, sequence, i);
    const uint4 total = cell_at(at);
    store_cell(at, prefix);
    prefix = joined(prefix, total);
  }
}

// --- outputs

uint2 bits_of_cell(uint4 cell) {
  if (!is_real()) return cell.xy;
  float result = 0.0f;
  if (IS_PRODUCT != 0) {
    result = product_of_cell(cell);
  } else {
    precise const float whole = asfloat(cell.x) + asfloat(cell.y);
    result = is_finite(whole) ? whole : asfloat(cell.x);
    if (has_levels() && cell.z != 0) result *= power_of_two(UNIT_EXPONENT);
  }
  return uint2(bits_of_real(result, TYPE), 0);
}

// Adds what a cell is as element `part` to a vector that has zeros there.
uint4 with_result(uint4 vector_, uint part, uint4 cell) {
  const uint2 bits = bits_of_cell(cell);
  if (size_of(TYPE) == 8) return vector_ | (part == 0 ? uint4(bits, 0, 0) : uint4(0, 0, bits));
  return with_element(vector_, part, bits.x, size_of(TYPE));
}

void write_outputs(uint thread) {
  const uint size = size_of(TYPE);
  const uint count = 16 / size;
  uint4 result = uint4(0, 0, 0, 0);
  Sequence sequence = sequence_at(0, 0);
  uint4 cell = empty_cell();
  uint next = 0xFFFFFFFF;  // element of the sequence that the cell has not
  for (uint step = 0; step < count; ++step) {
    // In the order of the scan.
    const uint part = FROM_END != 0 ? count - 1 - step : step;
    const uint at = min(thread * count + part, parameters[0].elements - 1);
    const uint row = at / parameters[0].inner;
    const uint inner = at - row * parameters[0].inner;
    const uint outer = row / parameters[0].length;
    const uint along = row - outer * parameters[0].length;
    const uint index = FROM_END != 0 ? parameters[0].length - 1 - along : along;
    const uint end = IS_EXCLUSIVE != 0 ? index : index + 1;
    const bool goes_on = outer == sequence.outer && inner == sequence.inner && next <= end && end - next <= BLOCK;
    if (!goes_on) {
      sequence = sequence_at(outer, inner);
      next = parameters[0].levels > 0 ? index / BLOCK * BLOCK : 0;
      cell = empty_cell();
      if (parameters[0].levels > 0) cell = cell_at(place_of(0, sequence, index / BLOCK));
    }
    for (; next < end; ++next) cell = joined(cell, element_at(sequence, next));
    result = with_result(result, part, cell);
  }
  output0[thread] = result;
}

// --- rows and columns

uint4 cell_in_vector(uint4 vector_, uint part) {
  const uint size = size_of(TYPE);
  if (size == 8) return uint4(part == 0 ? vector_.xy : vector_.zw, 0, 0);
  return cell_of_bits(element_of_vector(vector_, part, size));
}

// --- what the lanes of a group know of each other

// The first two words of a cell, which are all of a simple one, and the others.
#define SHARED_CELLS (GROUP_SIZE * 5)
groupshared uint2 shared_pairs[SHARED_CELLS];
groupshared uint2 shared_levels[SHARED_CELLS];
groupshared uint shared_is_simple;

bool has_simple() { return is_real() && IS_PRODUCT == 0; }
bool has_more_words() { return is_real() && (IS_PRODUCT != 0 || TYPE == FLOAT32); }

void share(uint at, uint4 cell, bool is_simple) {
  shared_pairs[at] = cell.xy;
  if (has_more_words() && !is_simple) shared_levels[at] = cell.zw;
}

uint4 shared_cell(uint at, bool is_simple) {
  uint2 more = uint2(0, 0);
  if (has_more_words() && !is_simple) more = shared_levels[at];
  return uint4(shared_pairs[at], more);
}

uint4 joined_as(bool is_simple, uint4 a, uint4 b) {
  if (is_simple) return sum_cell(joined_pairs(pair_of(a), pair_of(b)), 0);
  return joined(a, b);
}

// Sequences that stand beside each other.
#define SEQUENCES_MOST 4

// Leaves in the shared cells what the lanes of each sequence up to each have together, from what each has. Those of one
// sequence stand from `own` - `position` * `unit` on.
void scan_lanes(uint4 cells[SEQUENCES_MOST], uint sequences, uint own, uint position, uint lanes, uint unit,
                bool is_simple) {
  LOOP
  for (uint first = 0; first < sequences; ++first) share(first * GROUP_SIZE + own, cells[first], is_simple);
  GroupMemoryBarrierWithGroupSync();
  [loop]
  for (uint distance = 1; distance < lanes; distance <<= 1) {
    if (position >= distance) {
      LOOP
      for (uint c = 0; c < sequences; ++c)
        cells[c] = joined_as(is_simple, shared_cell(c * GROUP_SIZE + own - distance * unit, is_simple), cells[c]);
    }
    GroupMemoryBarrierWithGroupSync();
    LOOP
    for (uint each = 0; each < sequences; ++each) share(each * GROUP_SIZE + own, cells[each], is_simple);
    GroupMemoryBarrierWithGroupSync();
  }
}

// --- vectors

uint per_vector() { return 16 / size_of(TYPE); }

// Four of a vector's floats.
float4 four_of(uint4 vector_, uint four) {
  if (TYPE == FLOAT32) return asfloat(vector_);
  const uint2 words = four == 0 ? vector_.xy : vector_.zw;
  return float4(f16tof32(words.x & 0xFFFF), f16tof32(words.x >> 16), f16tof32(words.y & 0xFFFF), f16tof32(words.y >> 16));
}

uint4 with_four(uint4 vector_, uint four, float4 results) {
  if (TYPE == FLOAT32) return asuint(results);
  const uint2 words =
      uint2(half_bits(results.x) | half_bits(results.y) << 16, half_bits(results.z) | half_bits(results.w) << 16);
  return four == 0 ? uint4(words, vector_.zw) : uint4(vector_.xy, words);
}

// Whether sums of the elements and of very many like these are in range.
bool is_plain(uint4 vector_) {
  bool plain = has_simple();
  LOOP
  for (uint f = 0; f < per_vector() / 4; ++f) {
    const float4 sizes = abs(four_of(vector_, f));
    plain = plain && sizes.x <= LARGEST && sizes.y <= LARGEST && sizes.z <= LARGEST && sizes.w <= LARGEST;
  }
  return plain;
}

// --- rows

// A vector's elements in the order of the scan.
uint part_at(uint step, uint count) { return FROM_END != 0 ? count - 1 - step : step; }

uint4 total_of(uint4 vector_, bool plain) {
  if (plain) {
    const float4 four = four_of(vector_, 0);
    float2 total = joined_pairs(two_sum(four.x, four.y), two_sum(four.z, four.w));
    if (TYPE == FLOAT16) {
      // Not even two halves always have a sum that is a float.
      const float4 next = four_of(vector_, 1);
      total = joined_pairs(total, joined_pairs(two_sum(next.x, next.y), two_sum(next.z, next.w)));
    }
    return sum_cell(total, 0);
  }
  uint4 total = empty_cell();
  LOOP
  for (uint step = 0; step < per_vector(); ++step)
    total = joined(total, cell_in_vector(vector_, part_at(step, per_vector())));
  return total;
}

uint4 simple_results_after(float2 sum, uint4 vector_) {
  uint4 result = uint4(0, 0, 0, 0);
  LOOP
  for (uint f = 0; f < per_vector() / 4; ++f) {
    const uint place = part_at(f, per_vector() / 4);
    const float4 four = four_of(vector_, place);
    const float numbers[4] = {four.x, four.y, four.z, four.w};
    float results[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    LOOP
    for (uint step = 0; step < 4; ++step) {
      const uint part = part_at(step, 4);
      const float2 next = joined_pairs(sum, float2(numbers[part], 0.0f));
      precise const float whole = IS_EXCLUSIVE != 0 ? sum.x + sum.y : next.x + next.y;
      results[part] = whole;
      sum = next;
    }
    result = with_four(result, place, float4(results[0], results[1], results[2], results[3]));
  }
  return result;
}

// The results of a vector, after what a cell has.
uint4 results_after(uint4 cell, uint4 vector_, bool is_simple) {
  if (is_simple) return simple_results_after(pair_of(cell), vector_);
  uint4 result = uint4(0, 0, 0, 0);
  LOOP
  for (uint step = 0; step < per_vector(); ++step) {
    const uint part = part_at(step, per_vector());
    const uint4 next = joined(cell, cell_in_vector(vector_, part));
    result = with_result(result, part, IS_EXCLUSIVE != 0 ? cell : next);
    cell = next;
  }
  return result;
}

// The totals of a row's vectors stand with a gap behind each four: lanes write them side by side and read some each.
uint total_place(uint vector_) { return vector_ + (vector_ >> 2); }

// Vector v of a lane, from where the scan begins.
uint vector_index(uint tile, uint v, uint position) { return tile + (v << BASE) + position; }

// As scan_lanes() of one sequence, with half as many barriers: the cells of each round stand in another place than those
// of the round before. Returns where the last ones begin.
uint scan_row_lanes(uint4 cell, uint own, uint position, uint lanes, bool is_simple) {
  uint begin = 0;
  share(own, cell, is_simple);
  GroupMemoryBarrierWithGroupSync();
  [loop]
  for (uint distance = 1; distance < lanes; distance <<= 1) {
    if (position >= distance) cell = joined_as(is_simple, shared_cell(begin + own - distance, is_simple), cell);
    begin = GROUP_SIZE - begin;
    share(begin + own, cell, is_simple);
    GroupMemoryBarrierWithGroupSync();
  }
  return begin;
}

// Loads go together. Vectors behind the end are the tensor's first.
void load_row(uint tile, uint position, uint begin, uint end, inout uint4 elements[VECTORS_MOST]) {
  EACH_VECTOR(v) {
    const uint index = vector_index(tile, v, position);
    elements[v] = load_vector(1, index < end ? begin + (FROM_END != 0 ? end - 1 - index : index) : 0);
  }
}

void scan_rows(uint thread, uint lane) {
  const uint lanes = 1u << BASE, position = lane & (lanes - 1);
  const uint vectors = parameters[0].length / per_vector();
  const uint begin = (thread >> BASE) * vectors;
  const uint end = thread < END_OF_THREADS ? vectors : 0;
  const uint own = (lane - position) * VECTORS;  // the first total of the row
  uint4 carry = empty_cell();
  uint4 next[VECTORS_MOST], elements[VECTORS_MOST];
  load_row(0, position, begin, end, next);
  for (uint tile = 0; tile < vectors; tile += lanes * VECTORS) {
    EACH_VECTOR(a) elements[a] = next[a];
    // The next tile is under way while the lanes of this one wait for each other.
    if (tile + lanes * VECTORS < vectors) load_row(tile + lanes * VECTORS, position, begin, end, next);
    bool plain = true;
    EACH_VECTOR(e) plain = plain && is_plain(elements[e]);
    if (!plain) shared_is_simple = 0;
    EACH_VECTOR(t) {
      uint4 total = empty_cell();
      if (vector_index(tile, t, position) < end) total = total_of(elements[t], plain);
      share(total_place(own + t * lanes + position), total, false);
    }
    GroupMemoryBarrierWithGroupSync();
    const bool is_simple = shared_is_simple != 0;
    uint4 totals[VECTORS_MOST];
    uint4 cell = empty_cell();
    EACH_VECTOR(n) {
      totals[n] = shared_cell(total_place(own + position * VECTORS + n), is_simple);
      cell = joined_as(is_simple, cell, totals[n]);
    }
    GroupMemoryBarrierWithGroupSync();
    const uint scanned = scan_row_lanes(cell, lane, position, lanes, is_simple);
    cell = carry;
    if (position > 0) cell = joined_as(is_simple, carry, shared_cell(scanned + lane - 1, is_simple));
    carry = joined_as(is_simple, carry, shared_cell(scanned + (lane | (lanes - 1)), is_simple));
    GroupMemoryBarrierWithGroupSync();
    EACH_VECTOR(p) {
      share(total_place(own + position * VECTORS + p), cell, is_simple);
      cell = joined_as(is_simple, cell, totals[p]);
    }
    GroupMemoryBarrierWithGroupSync();
    EACH_VECTOR(r) {
      const uint index = vector_index(tile, r, position);
      if (index < end)
        output0[begin + (FROM_END != 0 ? vectors - 1 - index : index)] =
            results_after(shared_cell(total_place(own + r * lanes + position), is_simple), elements[r], is_simple);
    }
    GroupMemoryBarrierWithGroupSync();
  }
}

// --- columns

// A lane takes VECTORS rows of a tile, the lanes of a vector of columns one below the other. Neighboring threads stand
// beside each other.
uint columns_at_once() { return min(per_vector(), SEQUENCES_MOST); }

void add_row(inout uint4 cells[SEQUENCES_MOST], uint4 vector_, uint four, bool is_simple) {
  const float4 values = four_of(vector_, four);
  const float numbers[4] = {values.x, values.y, values.z, values.w};
  LOOP
  for (uint c = 0; c < columns_at_once(); ++c) {
    if (is_simple) {
      cells[c] = sum_cell(joined_pairs(pair_of(cells[c]), float2(numbers[c], 0.0f)), 0);
    } else {
      cells[c] = joined(cells[c], cell_in_vector(vector_, 4 * four + c));
    }
  }
}

// A vector with what cells are in place of a four.
uint4 with_results(uint4 vector_, uint four, uint4 cells[SEQUENCES_MOST], bool is_simple) {
  if (is_simple) {
    float numbers[4];
    LOOP
    for (uint n = 0; n < 4; ++n) {
      precise const float whole = asfloat(cells[n].x) + asfloat(cells[n].y);
      numbers[n] = whole;
    }
    return with_four(vector_, four, float4(numbers[0], numbers[1], numbers[2], numbers[3]));
  }
  uint4 results = uint4(0, 0, 0, 0);
  LOOP
  for (uint c = 0; c < columns_at_once(); ++c) results = with_result(results, c, cells[c]);
  if (TYPE != FLOAT16) return results;
  return four == 0 ? uint4(results.xy, vector_.zw) : uint4(vector_.xy, results.xy);
}

void scan_columns(uint thread, uint in_group) {
  const uint lanes = 1u << BASE, unit = GROUP_SIZE >> BASE, position = in_group / unit, beside = in_group & (unit - 1);
  const uint task = ((thread - in_group) >> BASE) + beside;
  const bool is_active = task < (END_OF_THREADS >> BASE);
  const uint vectors = parameters[0].inner / per_vector(), length = parameters[0].length;
  const uint outer = is_active ? task / vectors : 0;
  const uint first = outer * length * vectors + (is_active ? task - outer * vectors : 0);
  uint4 carries[2 * SEQUENCES_MOST];
  LOOP
  for (uint k = 0; k < 2 * SEQUENCES_MOST; ++k) carries[k] = empty_cell();
  for (uint tile = 0; tile < length; tile += lanes * VECTORS) {
    const uint begin = tile + position * VECTORS;
    uint4 rows[VECTORS_MOST];
    // Loads go together.
    EACH_VECTOR(v) {
      const uint index = min(begin + v, length - 1);
      rows[v] = load_vector(1, first + (FROM_END != 0 ? length - 1 - index : index) * vectors);
    }
    bool plain = true;
    EACH_VECTOR(e) plain = plain && is_plain(rows[e]);
    if (!plain) shared_is_simple = 0;
    LOOP
    for (uint f = 0; f < per_vector() / columns_at_once(); ++f) {
      uint4 cells[SEQUENCES_MOST];
      LOOP
      for (uint n = 0; n < SEQUENCES_MOST; ++n) cells[n] = empty_cell();
      EACH_VECTOR(t) {
        if (begin + t < length) add_row(cells, rows[t], f, plain);
      }
      GroupMemoryBarrierWithGroupSync();
      const bool is_simple = shared_is_simple != 0;
      scan_lanes(cells, columns_at_once(), in_group, position, lanes, unit, is_simple);
      LOOP
      for (uint b = 0; b < columns_at_once(); ++b) {
        const uint own = b * GROUP_SIZE + in_group;
        const uint4 carry = carries[SEQUENCES_MOST * f + b];
        cells[b] = carry;
        if (position > 0) cells[b] = joined_as(is_simple, carry, shared_cell(own - unit, is_simple));
        carries[SEQUENCES_MOST * f + b] =
            joined_as(is_simple, carry, shared_cell(b * GROUP_SIZE + (lanes - 1) * unit + beside, is_simple));
      }
      EACH_VECTOR(r) {
        if (begin + r < length) {
          const uint4 row = rows[r];
          if (IS_EXCLUSIVE != 0) rows[r] = with_results(row, f, cells, is_simple);
          add_row(cells, row, f, is_simple);
          if (IS_EXCLUSIVE == 0) rows[r] = with_results(row, f, cells, is_simple);
        }
      }
    }
    EACH_VECTOR(w) {
      const uint index = begin + w;
      if (is_active && index < length)
        output0[first + (FROM_END != 0 ? length - 1 - index : index) * vectors] = rows[w];
    }
  }
}

// --- columns of a thread alone

#define ROWS_ALONE 8

// Four pairs of one level each: the floats, and what they lack.
struct Sums {
  float4 whole;
  float4 rest;
};

// Adds a row and returns the results.
uint4 added_to(inout Sums sums, uint4 row) {
  const float4 numbers = asfloat(row);
  precise const float4 before = sums.whole + sums.rest;
  precise const float4 whole = sums.whole + numbers;
  precise const float4 of_numbers = whole - sums.whole;
  precise const float4 of_sums = whole - of_numbers;
  precise const float4 rest = ((sums.whole - of_sums) + (numbers - of_numbers)) + sums.rest;
  precise const float4 result = whole + rest;
  sums.whole = whole;
  sums.rest = rest;
  return asuint(IS_EXCLUSIVE != 0 ? before : result);
}

bool has_large(uint4 row) {
  const float4 sizes = abs(asfloat(row));
  return !(sizes.x <= LARGEST && sizes.y <= LARGEST && sizes.z <= LARGEST && sizes.w <= LARGEST);
}

// The place of row `index` of the scan, or of the last one.
uint place_of_row(uint first, uint index, uint vectors) {
  const uint length = parameters[0].length, row = min(index, length - 1);
  return first + (FROM_END != 0 ? length - 1 - row : row) * vectors;
}

// The rows from one that has a number that is not usual on. They are loaded one by one.
void scan_from(uint tile, uint first, uint vectors, Sums sums) {
  uint4 x = sum_cell(float2(sums.whole.x, sums.rest.x), 0), y = sum_cell(float2(sums.whole.y, sums.rest.y), 0);
  uint4 z = sum_cell(float2(sums.whole.z, sums.rest.z), 0), w = sum_cell(float2(sums.whole.w, sums.rest.w), 0);
  [loop]
  for (uint index = tile; index < parameters[0].length; ++index) {
    const uint place = place_of_row(first, index, vectors);
    const uint4 row = load_vector(1, place);
    const uint4 before = uint4(bits_of_cell(x).x, bits_of_cell(y).x, bits_of_cell(z).x, bits_of_cell(w).x);
    x = joined(x, cell_of_bits(row.x));
    y = joined(y, cell_of_bits(row.y));
    z = joined(z, cell_of_bits(row.z));
    w = joined(w, cell_of_bits(row.w));
    const uint4 after = uint4(bits_of_cell(x).x, bits_of_cell(y).x, bits_of_cell(z).x, bits_of_cell(w).x);
    output0[place] = IS_EXCLUSIVE != 0 ? before : after;
  }
}

// The next rows are under way while those that came are added up.
void scan_columns_alone(uint thread) {
  const uint vectors = parameters[0].inner / 4, outer = thread / vectors;
  const uint length = parameters[0].length;
  const uint first = outer * length * vectors + (thread - outer * vectors);
  Sums sums;
  sums.whole = float4(0.0f, 0.0f, 0.0f, 0.0f);
  sums.rest = float4(0.0f, 0.0f, 0.0f, 0.0f);
  uint4 next[ROWS_ALONE];
  [unroll]
  for (uint f = 0; f < ROWS_ALONE; ++f) next[f] = load_vector(1, place_of_row(first, f, vectors));
  uint tile = 0;
  bool has_usual = true;
  [loop]
  for (; tile < length && has_usual; tile += has_usual ? ROWS_ALONE : 0) {
    uint4 rows[ROWS_ALONE];
    [unroll]
    for (uint n = 0; n < ROWS_ALONE; ++n) rows[n] = next[n];
    [unroll]
    for (uint l = 0; l < ROWS_ALONE; ++l) next[l] = load_vector(1, place_of_row(first, tile + ROWS_ALONE + l, vectors));
    [unroll]
    for (uint u = 0; u < ROWS_ALONE; ++u) has_usual = has_usual && !has_large(rows[u]);
    if (has_usual) {
      [unroll]
      for (uint r = 0; r < ROWS_ALONE; ++r) {
        const uint4 results = added_to(sums, rows[r]);
        if (tile + r < length) output0[place_of_row(first, tile + r, vectors)] = results;
      }
    }
  }
  if (!has_usual) scan_from(tile, first, vectors, sums);
}

void run(uint thread, uint lane) {
  if (lane == 0) shared_is_simple = has_simple() ? 1 : 0;
  GroupMemoryBarrierWithGroupSync();
  if (WAY == BY_ROWS) scan_rows(thread, lane);
  if (WAY == BY_COLUMNS) scan_columns(thread, lane);
  if (WAY == BY_COLUMNS_ALONE && thread < END_OF_THREADS) scan_columns_alone(thread);
  if (WAY != BY_BLOCKS || thread >= END_OF_THREADS) return;
  if (STEP == TOTALS_OF_ELEMENTS) add_elements(thread);
  if (STEP == TOTALS_OF_CELLS) add_cells(thread, BASE);
  if (STEP == PREFIXES) spread_prefix(thread, BASE);
  if (STEP == OUTPUTS) write_outputs(thread);
}
