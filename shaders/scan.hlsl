// Running sums and products: ScanKernel (lib/ops/kernels/scan.hpp). Sequences are cut into blocks. The total of each
// block, a cell, is one of 16 that have a total on the next level, and so on; then each level's totals become those of
// all cells before, from the last level down. In the end a thread computes the elements of 16 bytes of output from
// the beginning of their block on.
//
// Packed tensors with enough sequences need one stage: the lanes of a row, a power of two, scan some vectors each at a
// time, or a thread goes down the columns of a vector.
//
// A cell is four words: a sum of floats as a pair and its level, a product of floats (pairs.hlsli), or the words of an
// integer. Sums of FLOAT32 that leave the range of floats have level 1: they are scaled by 2^-84.
#include "parameters/scan.hlsli"
#define PARAMETERS ScanParameters
#define WHOLE_GROUPS
#define LOADS_VECTORS
#include "resident.hlsli"
#include "functions.hlsli"
#include "pairs.hlsli"

SPECIALIZED(0, TYPE)
SPECIALIZED(1, IS_PRODUCT)
SPECIALIZED(2, FROM_END)
SPECIALIZED(3, IS_EXCLUSIVE)
SPECIALIZED(4, WAY)
SPECIALIZED(5, VECTORS)  // of a lane at a time, by rows
#define BY_BLOCKS 0
#define BY_ROWS 1
#define BY_COLUMNS 2

#define BLOCK 16
#define VECTORS_MOST 4

// Direct3D's compiler takes long to unroll loops.
#ifdef DMLOP_VULKAN
#define LOOP [unroll]
#define EACH_VECTOR(v) [unroll] for (uint v = 0; v < VECTORS_MOST; ++v) if (v < VECTORS)
#else
#define LOOP [loop]
#define EACH_VECTOR(v) [loop] for (uint v = 0; v < VECTORS; ++v)
#endif

// What STEP says of a stage; BASE is its level, or the binary logarithm of the lanes of a row.
#define TOTALS_OF_ELEMENTS 0
#define TOTALS_OF_CELLS 1
#define PREFIXES 2
#define OUTPUTS 3

bool is_real() { return TYPE == FLOAT32 || TYPE == FLOAT16; }

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
  return uint2(TYPE == FLOAT16 ? half_bits(result) : asuint(result), 0);
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

groupshared uint4 shared_lanes[2 * GROUP_SIZE];

// What the lanes of a row up to each have together, in the half of shared_lanes that it returns.
uint scan_lanes(uint lane, uint first, uint lanes, uint4 total) {
  uint from = 0;
  shared_lanes[lane] = total;
  GroupMemoryBarrierWithGroupSync();
  for (uint distance = 1; distance < lanes; distance <<= 1) {
    uint4 cell = shared_lanes[from + lane];
    if (first >= distance) cell = joined(shared_lanes[from + lane - distance], cell);
    from = GROUP_SIZE - from;
    shared_lanes[from + lane] = cell;
    GroupMemoryBarrierWithGroupSync();
  }
  return from;
}

// A vector's elements in the order of the scan.
uint part_at(uint step) { return FROM_END != 0 ? 16 / size_of(TYPE) - 1 - step : step; }

// Whether no sum of the elements and so few more leaves level 0.
bool is_plain(uint4 elements) {
  if (!has_levels()) return false;
  const float4 sizes = abs(asfloat(elements));
  return sizes.x <= LARGEST && sizes.y <= LARGEST && sizes.z <= LARGEST && sizes.w <= LARGEST;
}

uint4 total_of(uint4 elements) {
  const bool plain = is_plain(elements);
  uint4 total = empty_cell();
  LOOP
  for (uint step = 0; step < 16 / size_of(TYPE); ++step) {
    const uint part = part_at(step);
    if (plain) {
      const float element = asfloat(element_of_vector(elements, part, 4));
      total = sum_cell(joined_pairs(pair_of(total), float2(element, 0.0f)), 0);
    } else {
      total = joined(total, cell_in_vector(elements, part));
    }
  }
  return plain ? leveled(pair_of(total), 0) : total;
}

// The results of a vector, after what a cell has.
uint4 results_after(uint4 cell, uint4 elements) {
  const bool plain = is_plain(elements) && cell.z == 0;
  uint4 result = uint4(0, 0, 0, 0);
  LOOP
  for (uint step = 0; step < 16 / size_of(TYPE); ++step) {
    const uint part = part_at(step);
    uint4 next = cell;
    if (plain) {
      const float element = asfloat(element_of_vector(elements, part, 4));
      next = sum_cell(joined_pairs(pair_of(cell), float2(element, 0.0f)), 0);
    } else {
      next = joined(cell, cell_in_vector(elements, part));
    }
    result = with_result(result, part, IS_EXCLUSIVE != 0 ? cell : next);
    cell = next;
  }
  return result;
}

// The totals of a row's vectors, with a gap behind each four: lanes read them side by side and then four each.
groupshared uint4 shared_totals[GROUP_SIZE * VECTORS_MOST * 5 / 4];
uint total_place(uint vector_) { return vector_ + (vector_ >> 2); }

// Vector v of a lane, from where the scan begins.
uint vector_index(uint tile, uint v, uint first) { return tile + (v << BASE) + first; }

void scan_rows(uint thread, uint lane) {
  const uint lanes = 1u << BASE, first = lane & (lanes - 1);
  const uint vectors = parameters[0].length / (16 / size_of(TYPE));
  const uint begin = (thread >> BASE) * vectors;
  const uint end = thread < END_OF_THREADS ? vectors : 0;
  const uint own = (lane - first) * VECTORS;  // the first total of the row
  uint4 carry = empty_cell();
  for (uint tile = 0; tile < vectors; tile += lanes * VECTORS) {
    uint4 elements[VECTORS_MOST];
    // Loads go together.
    EACH_VECTOR(v) {
      const uint index = vector_index(tile, v, first);
      elements[v] = load_vector(1, index < end ? begin + (FROM_END != 0 ? vectors - 1 - index : index) : 0);
    }
    EACH_VECTOR(t) {
      uint4 total = empty_cell();
      if (vector_index(tile, t, first) < end) total = total_of(elements[t]);
      shared_totals[total_place(own + t * lanes + first)] = total;
    }
    GroupMemoryBarrierWithGroupSync();
    uint4 sum_of_lane = empty_cell();
    EACH_VECTOR(n) sum_of_lane = joined(sum_of_lane, shared_totals[total_place(own + first * VECTORS + n)]);
    const uint from = scan_lanes(lane, first, lanes, sum_of_lane);
    uint4 cell = carry;
    if (first > 0) cell = joined(carry, shared_lanes[from + lane - 1]);
    carry = joined(carry, shared_lanes[from + (lane | (lanes - 1))]);
    EACH_VECTOR(p) {
      const uint place = total_place(own + first * VECTORS + p);
      const uint4 next = joined(cell, shared_totals[place]);
      shared_totals[place] = cell;
      cell = next;
    }
    GroupMemoryBarrierWithGroupSync();
    EACH_VECTOR(r) {
      const uint index = vector_index(tile, r, first);
      if (index < end)
        output0[begin + (FROM_END != 0 ? vectors - 1 - index : index)] =
            results_after(shared_totals[total_place(own + r * lanes + first)], elements[r]);
    }
    GroupMemoryBarrierWithGroupSync();
  }
}

// Columns of 4 bytes.
void scan_columns(uint thread) {
  const uint vectors = parameters[0].inner / 4, length = parameters[0].length;
  const uint outer = thread / vectors;
  const uint first = outer * length * vectors + (thread - outer * vectors);
  uint4 cells[4];
  LOOP
  for (uint c = 0; c < 4; ++c) cells[c] = empty_cell();
  for (uint begin = 0; begin < length; begin += 4) {
    // Loads go together.
    uint4 rows[4];
    uint at[4];
    LOOP
    for (uint load = 0; load < 4; ++load) {
      const uint index = min(begin + load, length - 1);
      at[load] = first + (FROM_END != 0 ? length - 1 - index : index) * vectors;
      rows[load] = load_vector(1, at[load]);
    }
    // Whether no sum of these leaves level 0.
    bool plain = has_levels();
    LOOP
    for (uint each = 0; each < 4; ++each)
      plain = plain && is_plain(rows[each]) && cells[each].z == 0 && abs_of(asfloat(cells[each].x)) <= LARGEST;
    LOOP
    for (uint row = 0; row < 4; ++row) {
      if (begin + row < length) {
        uint4 result = uint4(0, 0, 0, 0);
        LOOP
        for (uint column = 0; column < 4; ++column) {
          uint4 next = cells[column];
          if (plain) {
            const float element = asfloat(element_of_vector(rows[row], column, 4));
            next = sum_cell(joined_pairs(pair_of(next), float2(element, 0.0f)), 0);
          } else {
            next = joined(next, cell_in_vector(rows[row], column));
          }
          result = with_result(result, column, IS_EXCLUSIVE != 0 ? cells[column] : next);
          cells[column] = next;
        }
        output0[at[row]] = result;
      }
    }
  }
}

void run(uint thread, uint lane) {
  if (WAY == BY_ROWS) scan_rows(thread, lane);
  if (WAY == BY_COLUMNS && thread < END_OF_THREADS) scan_columns(thread);
  if (WAY != BY_BLOCKS || thread >= END_OF_THREADS) return;
  if (STEP == TOTALS_OF_ELEMENTS) add_elements(thread);
  if (STEP == TOTALS_OF_CELLS) add_cells(thread, BASE);
  if (STEP == PREFIXES) spread_prefix(thread, BASE);
  if (STEP == OUTPUTS) write_outputs(thread);
}
