// Rows of elements made one: ReduceKernel (lib/ops/kernels/reduce.hpp). Some lanes of a group, a power of two, take a
// row or a part of a row; neighbors take neighboring elements, and what each gathers of its elements, a cell, becomes
// one in an order that does not depend on time. With one lane for each row, neighbors take neighboring rows. A stage
// writes outputs, or cells to the scratch, where the last stage joins the cells of the parts of a row.
//
// A cell is four words:
// - a sum of floats: its upper and lower part and its level, the power of `unit` that it is scaled by;
// - a product of floats: upper and lower part, exponent, and the product of the factors 0, infinity and NaN;
// - a sum or product of integers: its words;
// - an extreme: its key, which is a number of as many bits that is greater the better, and its index.
#include "parameters/reduce.hlsli"
#define PARAMETERS ReduceParameters
#define WHOLE_GROUPS
#define LOADS_VECTORS
#include "elements.hlsli"
#include "functions.hlsli"
#include "pairs.hlsli"

REDUCE_SPECIALIZATION(SPECIALIZED)

#define SUM 0
#define PRODUCT 1
#define MINIMUM 2
#define INDEX_OF_MINIMUM 4

#define MAGNITUDE 1
#define SQUARE 2
#define EXPONENTIAL 3
#define FINITE_EXPONENTIAL 4
#define SQUARED_DIFFERENCE 5
#define PRODUCT_WITH_DIFFERENCE 6

#define MEAN 1
#define ROOT 2
#define LOGARITHM 3
#define SOFTMAX_LOGARITHM 4

// What STEP says of a stage; BASE is the binary logarithm of the lanes of a row.

uint plain_type(uint type) { return type & 31; }
bool is_real() { return is_floating(plain_type(TYPE_0)); }
bool is_wide() { return size_of(plain_type(TYPE_0)) == 8; }
bool is_signed() { return is_signed(plain_type(TYPE_0)); }
bool finds_extreme() { return REDUCTION >= MINIMUM; }
bool finds_index() { return REDUCTION >= INDEX_OF_MINIMUM; }
bool finds_least() { return REDUCTION == MINIMUM || REDUCTION == INDEX_OF_MINIMUM; }

// --- levels: sums whose terms leave the range of floats are taken again with scaled operands

#define UNIT_EXPONENT 84
bool is_quadratic() { return TERM == SQUARE || TERM >= SQUARED_DIFFERENCE; }
bool has_levels() {
  const bool is_small = OPERANDS == 1 && plain_type(TYPE_0) == FLOAT16;
  return REDUCTION == SUM && is_real() && TERM != EXPONENTIAL && TERM != FINITE_EXPONENTIAL && !is_small;
}
bool is_never_negative() { return TERM == SQUARE || TERM == SQUARED_DIFFERENCE; }

// A sum, `units` levels lower or higher.
float2 leveled(float2 sum, int units) {
  for (uint order = 0; order < (is_quadratic() ? 2u : 1u); ++order)
    sum = float2(times_power(sum.x, units * UNIT_EXPONENT), times_power(sum.y, units * UNIT_EXPONENT));
  return sum;
}

// --- elements

// What a lane reads of a row.
struct Row {
  uint3 offsets;  // of its first element
  uint3 fixed;    // operands that are the same everywhere, as bits
};
struct Place {
  uint outer;
  uint inner;
};

Place place_at(uint index) {
  Place place;
  place.outer = OUTER_AXES == 0 ? 0 : index / parameters[0].inner_extent;
  place.inner = index - place.outer * parameters[0].inner_extent;
  return place;
}

// As many elements further on as a row has lanes.
Place next_place(Place place) {
  place.inner += parameters[0].step_inner;
  if (OUTER_AXES != 0) {
    place.outer += parameters[0].step_outer;
    if (place.inner >= parameters[0].inner_extent) {
      place.inner -= parameters[0].inner_extent;
      ++place.outer;
    }
  }
  return place;
}

uint3 kept_offsets(uint row) {
  uint3 offsets = uint3(0, 0, 0);
  for (uint step = parameters[0].kept; step > 0; --step) {
    const uint a = step - 1;
    const uint rest = row / parameters[0].kept_extents[a];
    const uint index = row - rest * parameters[0].kept_extents[a];
    offsets += index * uint3(parameters[0].kept_strides[a], parameters[0].kept_strides[8 + a],
                             parameters[0].kept_strides[16 + a]);
    row = rest;
  }
  return offsets;
}

uint3 outer_strides(uint a) {
  return uint3(parameters[0].outer_strides[a], parameters[0].outer_strides[8 + a], parameters[0].outer_strides[16 + a]);
}

uint3 outer_offsets(uint outer) {
  if (OUTER_AXES == 0) return uint3(0, 0, 0);
  if (OUTER_AXES == 1) return outer * outer_strides(0);
  uint3 offsets = uint3(0, 0, 0);
  for (uint step = parameters[0].outer; step > 0; --step) {
    const uint a = step - 1;
    const uint rest = outer / parameters[0].outer_extents[a];
    offsets += (outer - rest * parameters[0].outer_extents[a]) * outer_strides(a);
    outer = rest;
  }
  return offsets;
}

uint3 offsets_at(Row row, Place place) {
  const uint3 strides =
      uint3(parameters[0].inner_strides[0], parameters[0].inner_strides[1], parameters[0].inner_strides[2]);
  return row.offsets + outer_offsets(place.outer) + place.inner * strides;
}

// The bits of an operand of at most 32 bits. `operand` must be a number that the compiler knows.
uint operand_bits(uint operand, uint type, uint offset) {
  if ((type & IS_POSITION) != 0) return offset;
  return load_bits(operand + 1, offset, size_of(plain_type(type)));
}

float operand_real(uint operand, uint type, uint offset, uint fixed_bits) {
  const uint bits = (type & IS_FIXED) != 0 ? fixed_bits : operand_bits(operand, type, offset);
  return real_of(bits, plain_type(type));
}

Row row_at(uint index) {
  Row row;
  row.offsets = kept_offsets(index);
  row.fixed = uint3(0, 0, 0);
  if ((TYPE_1 & IS_FIXED) != 0) row.fixed.y = operand_bits(1, TYPE_1, row.offsets.y);
  if ((TYPE_2 & IS_FIXED) != 0) row.fixed.z = operand_bits(2, TYPE_2, row.offsets.z);
  return row;
}

uint flipped(uint key) { return finds_least() ? ~key : key; }
uint sign_of(uint key) { return is_signed() ? key ^ 0x80000000u : key; }

float term_of(float a, float b, float c, float down, float up) {
  if (TERM == EXPONENTIAL) return exp_of(a - b);
  if (TERM == FINITE_EXPONENTIAL) return exp_of(a - (is_finite(b) ? b : 0.0f));
  a *= down;
  if (TERM == MAGNITUDE) return abs_of(a);
  if (TERM == SQUARE) return a * up * (a * up);
  b *= down;
  const float difference = (a - b) * up;
  if (TERM == SQUARED_DIFFERENCE) return difference * difference;
  if (TERM == PRODUCT_WITH_DIFFERENCE) return a * (b - c * down);
  return a;
}

uint integer_term(uint value) {
  if (TERM == MAGNITUDE && is_signed() && int(value) < 0) return 0 - value;
  return TERM == SQUARE ? value * value : value;
}

uint2 key_at(float a) {
  // Zeros of both signs are equal.
  const bool is_zero = (asuint(a) & 0x7FFFFFFFu) == 0;
  const uint key = key_of_real(finds_index() && is_zero ? 0.0f : a);
  return uint2(key == 0 ? 0 : flipped(key), 0);
}

// What an element is to its cell: the bits of a number, an integer or a key.
uint2 element_at(Row row, Place place, float down, float up) {
  const uint3 at = offsets_at(row, place);
  if (is_wide()) {
    uint2 value = uint2(at.x, 0);
    if ((TYPE_0 & IS_POSITION) == 0) value = load_bits64(1, at.x);
    if (finds_extreme()) return uint2(flipped(value.x), flipped(sign_of(value.y)));
    if (TERM == MAGNITUDE && is_signed() && int(value.y) < 0) return negated(value);
    if (TERM == SQUARE) return product(value, value);
    return value;
  }
  if (!is_real()) {
    const uint value = extended(operand_bits(0, TYPE_0, at.x), plain_type(TYPE_0));
    return uint2(finds_extreme() ? flipped(sign_of(value)) : integer_term(value), 0);
  }
  const float a = operand_real(0, TYPE_0, at.x, 0);
  if (finds_extreme()) return key_at(a);
  float b = 0.0f, c = 0.0f;
  if (OPERANDS > 1) b = operand_real(1, TYPE_1, at.y, row.fixed.y);
  if (OPERANDS > 2) c = operand_real(2, TYPE_2, at.z, row.fixed.z);
  return uint2(asuint(term_of(a, b, c, down, up)), 0);
}

// --- cells

uint4 sum_cell(float2 sum, int level) { return uint4(asuint(sum.x), asuint(sum.y), uint(level), 0); }

// Of no element. The search for an index begins with the first of all.
uint4 empty_cell(Row row) {
  if (finds_index()) {
    const uint2 key = element_at(row, place_at(0), 1.0f, 1.0f);
    // No key is greater than that of a NaN in first place.
    return is_real() && key.x == 0 ? uint4(0xFFFFFFFFu, 0, 0, 0) : uint4(key, 0, 0);
  }
  if (finds_extreme()) return uint4(is_real() ? 0x007FFFFFu : 0, 0, 0, 0);  // the worst infinity
  if (REDUCTION == SUM) return uint4(0, 0, 0, 0);
  if (!is_real()) return uint4(1, 0, 0, 0);
  return product_cell(float2(1.0f, 0.0f), 0, 1.0f);
}

bool is_better(uint2 key, uint2 best) { return is_wide() ? is_less(best, key) : best.x < key.x; }
bool is_as_good(uint2 key, uint2 best) { return is_wide() ? is_equal(best, key) : best.x == key.x; }

uint4 added(uint4 cell, uint2 element, uint index) {
  if (finds_extreme()) {
    const bool is_later = finds_index() && TAKES_LAST != 0 && is_as_good(element, cell.xy);
    return is_later || is_better(element, cell.xy) ? uint4(element, index, 0) : cell;
  }
  if (!is_real()) {
    if (is_wide()) return uint4(REDUCTION == SUM ? sum(cell.xy, element) : product(cell.xy, element), 0, 0);
    return uint4(REDUCTION == SUM ? cell.x + element.x : cell.x * element.x, 0, 0, 0);
  }
  if (REDUCTION == PRODUCT) return joined_products(cell, factor_cell(asfloat(element.x)));
  const float2 whole = two_sum(asfloat(cell.x), asfloat(element.x));
  return uint4(asuint(whole.x), asuint(asfloat(cell.y) + whole.y), cell.zw);
}

uint4 joined_sums(uint4 a, uint4 b) {
  int level = 0;
  float2 x = pair_of(a), y = pair_of(b);
  if (has_levels()) {
    // No level is right or wrong for 0.
    level = x.x == 0.0f ? int(b.z) : y.x == 0.0f ? int(a.z) : min(int(a.z), int(b.z));
    if (int(a.z) != level) x = leveled(x, level - int(a.z));
    if (int(b.z) != level) y = leveled(y, level - int(b.z));
  }
  const float2 sum = two_sum(x.x, y.x);
  return sum_cell(float2(sum.x, sum.y + (x.y + y.y)), level);
}

uint4 joined(uint4 a, uint4 b) {
  if (finds_extreme()) {
    const bool is_equal = is_as_good(b.xy, a.xy);
    const bool comes_first = finds_index() && is_equal && (TAKES_LAST != 0 ? b.z > a.z : b.z < a.z);
    return comes_first || is_better(b.xy, a.xy) ? b : a;
  }
  if (!is_real()) return added(a, b.xy, 0);
  if (REDUCTION == PRODUCT) return joined_products(a, b);
  return joined_sums(a, b);
}

// --- rows

#ifdef DMLOP_VULKAN
#define LOADS 8
#else
#define LOADS 4  // the compiler takes three times as long for 8
#endif

// Elements [begin, begin + count) of a row, every `lanes`-th from the first on.
uint4 gathered(Row row, uint begin, uint count, uint first, uint lanes, int level) {
  const float down = level < 0 ? power_of_two(-UNIT_EXPONENT) : 1.0f;
  const float up = level > 0 ? power_of_two(UNIT_EXPONENT) : 1.0f;
  uint4 cell = empty_cell(row);
  const Place start = place_at(min(begin + first, parameters[0].length - 1));
  Place place = start;
  for (uint i = first; i < count; i += LOADS * lanes) {
    // Loads go together.
    uint2 elements[LOADS];
    [unroll]
    for (uint load = 0; load < LOADS; ++load) {
      const bool is_inside = i + load * lanes < count;
      Place inside = start;
      if (is_inside) inside = place;
      elements[load] = element_at(row, inside, down, up);
      place = next_place(place);
    }
    [unroll]
    for (uint e = 0; e < LOADS; ++e) {
      if (i + e * lanes < count) cell = added(cell, elements[e], begin + i + e * lanes);
    }
  }
  return cell;
}

#define VECTOR_LOADS 4
#ifdef DMLOP_VULKAN
#define LOOP [unroll]
#else
#define LOOP [loop]
#endif

uint per_vector() { return 16 / size_of(plain_type(TYPE_0)); }

// f16tof32 takes the lower half of a word.
float2 halves_of(uint word) { return float2(f16tof32(word), f16tof32(word >> 16)); }

float number_of_vector(uint4 vector_, uint e) {
  return real_of(element_of_vector(vector_, e, size_of(plain_type(TYPE_0))), plain_type(TYPE_0));
}

// An index is searched by what is cheaper to compare than keys: numbers of FLOAT16 as such, those of FLOAT32 as integers
// of the same order, because a device may take small ones for 0. Both zeros are equal.
uint standing_of(float x) {
  const uint bits = asuint(x);
  return plain_type(TYPE_0) == FLOAT16 || int(bits) >= 0 ? bits : 0x80000000u - bits;
}

// NaN is ahead of nothing.
bool is_ahead(uint x, uint best) {
  if (plain_type(TYPE_0) == FLOAT16) {
    const float a = asfloat(x), b = asfloat(best);
    if (finds_least()) return TAKES_LAST != 0 ? a <= b : a < b;
    return TAKES_LAST != 0 ? a >= b : a > b;
  }
  const int a = int(x), b = int(best), infinite = 0x7F800000;
  if (finds_least()) return a >= -infinite && (TAKES_LAST != 0 ? a <= b : a < b);
  return a <= infinite && (TAKES_LAST != 0 ? a >= b : a > b);
}

// While a search goes on, a cell has a standing in place of a key; it begins with the first number of a row.
uint4 begun_cell(float first) { return uint4(standing_of(first), 0, 0, 0); }
uint4 searched(uint4 cell, float number, uint index) {
  const uint standing = standing_of(number);
  return is_ahead(standing, cell.x) ? uint4(standing, 0, index, 0) : cell;
}
uint4 found_cell(uint4 cell, float first) {
  const float number = asfloat(standing_of(asfloat(cell.x)));
  return is_nan(first) ? uint4(0xFFFFFFFFu, 0, 0, 0) : uint4(key_at(number), cell.z, 0);
}

uint4 added_number(uint4 cell, float number, uint index, float down, float up) {
  if (finds_index()) return searched(cell, number, index);
  if (finds_extreme()) return added(cell, key_at(number), index);
  return added(cell, uint2(asuint(term_of(number, 0.0f, 0.0f, down, up)), 0), index);
}

// What is left of terms that cancel each other may be what a float would lose, even of two halves.
float2 added_pairs(float2 a, float2 b) {
  if (is_never_negative() || TERM == MAGNITUDE) return float2(a.x + b.x, 0.0f);
  const float2 whole = two_sum(a.x, b.x);
  return float2(whole.x, whole.y + (a.y + b.y));
}

float2 sum_of_halves(uint4 vector_, float down, float up) {
  const uint words[4] = {vector_.x, vector_.y, vector_.z, vector_.w};
  float2 terms[4];
  LOOP
  for (uint w = 0; w < 4; ++w) {
    const float2 halves = halves_of(words[w]);
    const float first = term_of(halves.x, 0.0f, 0.0f, down, up), second = term_of(halves.y, 0.0f, 0.0f, down, up);
    terms[w] = added_pairs(float2(first, 0.0f), float2(second, 0.0f));
  }
  return added_pairs(added_pairs(terms[0], terms[1]), added_pairs(terms[2], terms[3]));
}

// Numbers are added one by one; of FLOAT16, the terms of a sum are one before.
uint4 added_vector(uint4 cell, uint4 vector_, uint index, float down, float up) {
  if (!finds_extreme() && plain_type(TYPE_0) == FLOAT16) {
    const float2 sum = sum_of_halves(vector_, down, up);
    const uint4 next = added(cell, uint2(asuint(sum.x), 0), index);
    return uint4(next.x, asuint(asfloat(next.y) + sum.y), next.zw);
  }
  LOOP
  for (uint e = 0; e < per_vector(); ++e) {
    cell = added_number(cell, number_of_vector(vector_, e), index + e, down, up);
  }
  return cell;
}

// The same as gathered(), by vectors.
uint4 gathered_vectors(Row row, uint begin, uint count, uint first, uint lanes, int level) {
  const float down = level < 0 ? power_of_two(-UNIT_EXPONENT) : 1.0f;
  const float up = level > 0 ? power_of_two(UNIT_EXPONENT) : 1.0f;
  float first_number = 0.0f;
  if (finds_index()) first_number = operand_real(0, TYPE_0, row.offsets.x, 0);
  uint4 cell = empty_cell(row);
  if (finds_index()) cell = begun_cell(first_number);
  const uint start = (row.offsets.x + begin) / per_vector(), vectors = count / per_vector();
  for (uint i = first; i < vectors; i += VECTOR_LOADS * lanes) {
    // Loads go together.
    uint4 loaded[VECTOR_LOADS];
    [unroll]
    for (uint load = 0; load < VECTOR_LOADS; ++load)
      loaded[load] = load_vector(1, start + min(i + load * lanes, vectors - 1));
    LOOP
    for (uint v = 0; v < VECTOR_LOADS; ++v) {
      const uint at = i + v * lanes;
      if (at < vectors) cell = added_vector(cell, loaded[v], begin + per_vector() * at, down, up);
    }
  }
  if (finds_index()) cell = found_cell(cell, first_number);
  return cell;
}

// 1 where terms are too small for level 0, -1 where they are too large.
int level_for(float sum) {
  return !is_finite(sum) ? -1 : is_never_negative() && sum < power_of_two(-80) ? 1 : 0;
}

uint4 gathered_any(Row row, uint begin, uint count, uint first, uint lanes, int level) {
  if (BY_VECTORS == ALONG_ROWS) return gathered_vectors(row, begin, count, first, lanes, level);
  return gathered(row, begin, count, first, lanes, level);
}

// So that no number of parts leaves the range.
uint4 in_range(uint4 cell) {
  const bool is_large = int(cell.z) == 0 && abs_of(asfloat(cell.x)) > power_of_two(90);
  return is_large ? sum_cell(leveled(pair_of(cell), -1), -1) : cell;
}

uint4 gathered_of_inputs(uint index, uint part, uint first, uint lanes) {
  const Row row = row_at(index);
  const uint begin = part * parameters[0].part_length;
  const uint count = min(parameters[0].part_length, parameters[0].length - begin);
  uint4 cell = uint4(0, 0, 0, 0);
  int level = 0;
  for (uint attempt = 0; attempt < 2; ++attempt) {
    cell = gathered_any(row, begin, count, first, lanes, level);
    if (!has_levels()) return cell;
    cell.z = uint(level);
    if (level != 0) break;
    level = level_for(asfloat(cell.x));
    if (level == 0) break;
  }
  return in_range(cell);
}

uint4 gathered_of_cells(uint index, uint first, uint lanes) {
  uint4 cell = uint4(0, 0, 0, 0);
  for (uint part = first; part < parameters[0].parts; part += lanes) {
    const uint at = 4 * (part * parameters[0].outputs + index);
    const uint4 other = uint4(scratch[at], scratch[at + 1], scratch[at + 2], scratch[at + 3]);
    cell = part == first ? other : joined(cell, other);
  }
  return cell;
}

// --- results

float finished_sum(float2 sum, int exponent) {
  if (!is_finite(sum.x) || !is_finite(sum.y)) sum.y = 0.0f;
  const float2 whole = two_sum(sum.x, sum.y);
  sum = is_finite(whole.x) && is_finite(whole.y) ? whole : sum;
  if (FINISH == MEAN)
    return times_power(pair_quotient(sum, float2(parameters[0].length_high, parameters[0].length_low)), exponent);
  if (FINISH == ROOT) return times_power(pair_root(sum), exponent >> 1);
  if (FINISH == LOGARITHM) return log_of(sum.x) + float(exponent) * 0.69314718f;
  const float single = times_power(sum.x, exponent);
  if (FINISH == SOFTMAX_LOGARITHM) return log_of(single > 1e-20f ? single : 1e-20f);
  return single;
}

// The bits of an output.
uint2 finished(uint4 cell) {
  if (finds_index()) return uint2(cell.z, 0);
  if (!is_real()) {
    if (!finds_extreme()) return cell.xy;
    const uint2 key = uint2(flipped(cell.x), flipped(cell.y));
    return is_wide() ? uint2(key.x, sign_of(key.y)) : uint2(sign_of(key.x), 0);
  }
  float result = 0.0f;
  if (finds_extreme()) {
    result = real_of_key(flipped(cell.x));
  } else if (REDUCTION == PRODUCT) {
    result = product_of_cell(cell);
  } else {
    result = finished_sum(pair_of(cell), -int(cell.z) * UNIT_EXPONENT * (is_quadratic() ? 2 : 1));
  }
  return uint2(bits_of_real(result, OUTPUT_TYPE), 0);
}

groupshared uint4 shared_cells[GROUP_SIZE];

// 16 bytes of the outputs of a group.
uint4 packed_results(uint vector_) {
  const uint size = size_of(OUTPUT_TYPE);
  if (size == 8) return uint4(shared_cells[2 * vector_].xy, shared_cells[2 * vector_ + 1].xy);
  uint4 result = uint4(0, 0, 0, 0);
  const uint per_word = 4 / size;
  [unroll]
  for (uint w = 0; w < 4; ++w) {
    uint word = 0;
    for (uint part = 0; part < per_word; ++part)
      word |= placed(shared_cells[(4 * vector_ + w) * per_word + part].x, part, size);
    result = with_word(result, w, word);
  }
  return result;
}

#include "reduce_columns.hlsli"

void run_rows(uint thread, uint lane) {
  const uint shift = BASE;
  const uint lanes = 1u << shift;
  const uint first = lane & (lanes - 1);
  const uint task = thread >> shift;
  const bool is_active = thread < END_OF_THREADS;
  const bool writes_outputs = (STEP & WRITES_OUTPUTS) != 0;
  uint4 cell = uint4(0, 0, 0, 0);
  if (is_active) {
    if ((STEP & READS_CELLS) != 0) {
      cell = gathered_of_cells(task, first, lanes);
    } else {
      const uint part = task / parameters[0].outputs;
      cell = gathered_of_inputs(task - part * parameters[0].outputs, part, first, lanes);
    }
  }
  shared_cells[lane] = cell;
  GroupMemoryBarrierWithGroupSync();
  for (uint half_ = lanes >> 1; half_ > 0; half_ >>= 1) {
    if (first < half_) shared_cells[lane] = joined(shared_cells[lane], shared_cells[lane + half_]);
    GroupMemoryBarrierWithGroupSync();
  }
  if (is_active && first == 0 && !writes_outputs) {
    const uint4 whole = shared_cells[lane];
    scratch[4 * task] = whole.x;
    scratch[4 * task + 1] = whole.y;
    scratch[4 * task + 2] = whole.z;
    scratch[4 * task + 3] = whole.w;
  }
  if (writes_outputs) {
    const uint tasks = GROUP_SIZE >> shift;  // of a group
    uint2 result = uint2(0, 0);
    if (lane < tasks) result = finished(shared_cells[lane << shift]);
    GroupMemoryBarrierWithGroupSync();
    shared_cells[lane] = uint4(result, 0, 0);
    GroupMemoryBarrierWithGroupSync();
    const uint bytes = size_of(OUTPUT_TYPE);
    const uint vectors = tasks * bytes / 16;
    const uint at = ((thread - lane) >> shift) * bytes / 16 + lane;
    if (lane < vectors && at < (parameters[0].outputs * bytes + 15) / 16) output0[at] = packed_results(lane);
  }
}

void run(uint thread, uint lane) {
  if (BY_VECTORS == ALONG_COLUMNS && (STEP & READS_CELLS) == 0) {
    run_columns(thread, lane);
  } else {
    run_rows(thread, lane);
  }
}
