// Rows that are normalized by what they add up to (lib/ops/kernels/rows.hpp). Some lanes of a group, a power of two,
// hold a row as numbers while they find first its maximum or mean, and then the sum of powers or squares, and write what
// each number becomes. Memory is read once.
//
// Rows lie at a stretch, and a vector of 16 bytes belongs to one of them; or, with COLUMNS, they stand side by side, and
// a vector has an element of each of 4 or 8 rows. Rows too long for a group are cut into parts: a stage leaves in the
// scratch what it finds of each, the next one joins that, and the last one reads the row again. In the scratch a part
// has 8 words, and behind all parts each row has 2.
#include "parameters/rows.hlsli"
#define PARAMETERS RowsParameters
#define WHOLE_GROUPS
#define LOADS_VECTORS
#include "elements.hlsli"
#include "functions.hlsli"
#include "pairs.hlsli"

ROWS_SPECIALIZATION(SPECIALIZED)

#define SOFTMAX 0
#define LOG_SOFTMAX 1
#define CENTER 2            // x - mean
#define NORMALIZE 3         // (x - mean) / root of the variance
#define NORMALIZE_ABOUT_0 4  // x / root of the mean square
#define BY_NORM_1 5
#define BY_NORM_2 6

// What STEP says of a stage; BASE is the binary logarithm of the lanes of a row.

// A lane holds numbers in fours. Direct3D's compiler takes too long to unroll loops over them.
#ifdef DMLOP_VULKAN
#define LOOP [unroll]
#define EACH_FOUR [unroll] for (uint f = 0; f < FOURS_MOST; ++f) if (f < fours())
#define EACH_VECTOR [unroll] for (uint v = 0; v < FOURS_MOST; ++v) if (v < VECTORS)
#else
#define LOOP [loop]
#define EACH_FOUR [loop] for (uint f = 0; f < fours(); ++f)
#define EACH_VECTOR [loop] for (uint v = 0; v < VECTORS; ++v)
#endif

uint per_vector() { return 16 / size_of(TYPE); }
uint fours_per_vector() { return per_vector() / 4; }
uint fours() { return VECTORS * fours_per_vector(); }

// A NUMBER is what a four has of one row, or one number of each of four rows; a lane has CELLS of these.
#ifdef COLUMNS
#define FOURS_MOST 32
#define CELLS_MOST 2
#define NUMBER float4
float4 sum_of(float4 four) { return four; }
float4 four_of(float4 number) { return number; }
uint cell_of(uint four) { return four & (fours_per_vector() - 1); }
#define EACH_CELL LOOP for (uint c = 0; c < fours_per_vector(); ++c)
#else
#define FOURS_MOST 16
#define CELLS_MOST 1
#define NUMBER float
float sum_of(float4 four) { return (four.x + four.y) + (four.z + four.w); }
float4 four_of(float number) { return float4(number, number, number, number); }
uint cell_of(uint four) { return 0; }
#define EACH_CELL const uint c = 0;
#endif

bool is_softmax() { return OPERATION == SOFTMAX || OPERATION == LOG_SOFTMAX; }
bool has_mean() { return OPERATION == CENTER || OPERATION == NORMALIZE; }
bool has_squares() { return OPERATION == NORMALIZE || OPERATION == NORMALIZE_ABOUT_0 || OPERATION == BY_NORM_2; }
// Sums and squares of FLOAT16 do not leave the range of floats.
bool may_overflow() { return TYPE != FLOAT16; }
bool has_scales() { return has_squares() && may_overflow(); }

// A sum of two numbers, and the maximum of elements or of their magnitudes.
struct Cell {
  NUMBER high;
  NUMBER low;
  NUMBER largest;
};

Cell empty_cell() {
  Cell cell;
  cell.high = 0.0f;
  cell.low = 0.0f;
  cell.largest = OPERATION <= LOG_SOFTMAX ? -infinity() : has_scales() ? 0.0f : 1.0f;
  return cell;
}

// NaN is no maximum.
NUMBER larger_of(NUMBER largest, NUMBER x) { return x > largest ? x : largest; }
NUMBER largest_with(NUMBER largest, float4 four) {
#ifdef COLUMNS
  return larger_of(largest, four);
#else
  return larger_of(larger_of(larger_of(larger_of(largest, four.x), four.y), four.z), four.w);
#endif
}

Cell with_sum(Cell cell, NUMBER high, NUMBER low) {
  precise const NUMBER sum = cell.high + high;
  precise const NUMBER of_other = sum - cell.high;
  precise const NUMBER of_cell = sum - of_other;
  precise const NUMBER rest = (cell.high - of_cell) + (high - of_other);
  cell.low += low + rest;
  cell.high = sum;
  return cell;
}

Cell joined(Cell a, Cell b) {
  Cell cell = with_sum(a, b.high, b.low);
  cell.largest = larger_of(a.largest, b.largest);
  return cell;
}

// --- what is found of a row

// The power of two that a magnitude has, so that squares of what is scaled by it are in range.
int exponent_of(float largest) {
  const int exponent = int((asuint(largest) >> 23) & 0xFF) - 127;
  return exponent == 128 ? 0 : clamp(exponent, -126, 126);
}
float scale_of(float largest) { return power_of_two(-exponent_of(largest)); }

// An infinite sum of two numbers is the first one.
float2 settled(float high, float low) {
  return float2(high, is_finite(high) && is_finite(low) ? low : 0.0f);
}

static float2 scaled_length;  // the elements of a row or part, times `down`
float mean_of(float high, float low) { return pair_quotient(settled(high, low), scaled_length); }

// What numbers of a row are less, before anything else.
NUMBER pivot_of(Cell cell) {
  if (is_softmax()) return cell.largest;
  NUMBER pivot = 0.0f;
  if (has_mean()) {
#ifdef COLUMNS
    LOOP
    for (uint turn = 0; turn < 4; ++turn) {
      pivot = with_last(pivot, mean_of(cell.high.x, cell.low.x));
      cell.high = turned(cell.high);
      cell.low = turned(cell.low);
    }
#else
    pivot = mean_of(cell.high, cell.low);
#endif
  }
  return pivot;
}

// What they are then multiplied with, or divided by; a logarithm.
float factor_of(float high, float low, float largest) {
  const float2 sum = settled(high, low);
  const float single = sum.x + sum.y;
  if (OPERATION == SOFTMAX) return 1.0f / single;
  if (OPERATION == LOG_SOFTMAX) return log_of(single > 1e-20f ? single : 1e-20f);  // as DirectML
  if (OPERATION == BY_NORM_1) return hypotenuse(single * parameters[0].up, parameters[0].epsilon);
  if (OPERATION == BY_NORM_2) return hypotenuse(times_power(pair_root(sum), exponent_of(largest)), parameters[0].epsilon);
  if (OPERATION == CENTER) return 1.0f;
  const float2 length =
      float2(parameters[0].scaled_length_high * parameters[0].up, parameters[0].scaled_length_low * parameters[0].up);
  return 1.0f / sqrt(times_power(pair_quotient(sum, length), 2 * exponent_of(largest)) + parameters[0].epsilon);
}

NUMBER factors_of(Cell sum, Cell first) {
#ifdef COLUMNS
  float4 factors = sum.high;
  LOOP
  for (uint turn = 0; turn < 4; ++turn) {
    factors = with_last(factors, factor_of(sum.high.x, sum.low.x, first.largest.x));
    sum.high = turned(sum.high);
    sum.low = turned(sum.low);
    first.largest = turned(first.largest);
  }
  return factors;
#else
  return factor_of(sum.high, sum.low, first.largest);
#endif
}

NUMBER scales_of(NUMBER largest) {
#ifdef COLUMNS
  return float4(scale_of(largest.x), scale_of(largest.y), scale_of(largest.z), scale_of(largest.w));
#else
  return scale_of(largest);
#endif
}

// For the few digits of FLOAT16, a device's own function is exact enough. Not all of them know NaN.
float power_of_e(float x) {
  if (TYPE == FLOAT16) return is_nan(x) ? x : exp2(x * 1.44269504f);
  return exp_of(x);
}

float4 powers_of_e(float4 four) {
  LOOP for (uint turn = 0; turn < 4; ++turn) four = with_last(four, power_of_e(four.x));
  return four;
}

// --- lanes

// A lane's place, and the vectors of its row or part of a row.
struct Lane {
  uint lanes;  // of the row
  uint unit;   // from one of these to the next in the group
  uint position;
  uint first;  // vector
  uint count;
};

static float4 values[FOURS_MOST];

uint vector_at(Lane lane, uint v) { return lane.first + (lane.position + v * lane.lanes) * parameters[0].stride; }
bool has_vector(Lane lane, uint v) { return lane.position + v * lane.lanes < lane.count; }

void load_values(Lane lane) {
  EACH_VECTOR {
    const uint4 vector_ = load_vector(1, has_vector(lane, v) ? vector_at(lane, v) : 0);
    if (TYPE == FLOAT32) {
      values[v] = asfloat(vector_);
    } else {
      const uint f = 2 * v & (FOURS_MOST - 1);
      values[f] = float4(f16tof32(vector_.x & 0xFFFF), f16tof32(vector_.x >> 16), f16tof32(vector_.y & 0xFFFF),
                         f16tof32(vector_.y >> 16));
      values[f + 1] = float4(f16tof32(vector_.z & 0xFFFF), f16tof32(vector_.z >> 16),
                             f16tof32(vector_.w & 0xFFFF), f16tof32(vector_.w >> 16));
    }
  }
}

groupshared NUMBER shared_high[GROUP_SIZE * CELLS_MOST];
groupshared NUMBER shared_low[GROUP_SIZE * CELLS_MOST];
groupshared NUMBER shared_largest[GROUP_SIZE * CELLS_MOST];

Cell shared_cell(uint at) {
  Cell cell;
  cell.high = shared_high[at];
  cell.low = shared_low[at];
  cell.largest = shared_largest[at];
  return cell;
}
void share(uint at, Cell cell) {
  shared_high[at] = cell.high;
  shared_low[at] = cell.low;
  shared_largest[at] = cell.largest;
}

// The cells of a lane become those of its row.
void join_lanes(inout Cell cells[CELLS_MOST], Lane lane, uint in_group) {
  {
    EACH_CELL share(c * GROUP_SIZE + in_group, cells[c]);
  }
  GroupMemoryBarrierWithGroupSync();
  [loop]
  for (uint half_ = lane.lanes >> 1; half_ > 0; half_ >>= 1) {
    if (lane.position < half_) {
      EACH_CELL {
        const uint own = c * GROUP_SIZE + in_group;
        share(own, joined(shared_cell(own), shared_cell(own + half_ * lane.unit)));
      }
    }
    GroupMemoryBarrierWithGroupSync();
  }
  {
    EACH_CELL cells[c] = shared_cell(c * GROUP_SIZE + in_group - lane.position * lane.unit);
  }
  GroupMemoryBarrierWithGroupSync();
}

// The maximum or mean of what a lane has.
void gather_first(Lane lane, inout Cell cells[CELLS_MOST]) {
  EACH_FOUR {
    if (has_vector(lane, f / fours_per_vector())) {
      const float4 four = values[f];
      Cell cell = cells[cell_of(f)];
      if (is_softmax()) cell.largest = largest_with(cell.largest, four);
      if (has_scales()) cell.largest = largest_with(cell.largest, abs(four));
      if (has_mean()) {
        // Compilers must not add up what is not scaled.
        precise float4 terms = four;
        if (may_overflow()) terms = four * parameters[0].down;
        cell = with_sum(cell, sum_of(terms), 0.0f);
      }
      cells[cell_of(f)] = cell;
    }
  }
}

// What numbers become by what is known of their row.
void shift_values(NUMBER pivots[CELLS_MOST]) {
  EACH_FOUR {
    float4 four = values[f];
    if (is_softmax() || has_mean()) four -= four_of(pivots[cell_of(f)]);
    values[f] = four;
    if (OPERATION == SOFTMAX) values[f] = powers_of_e(four);
  }
}

// The sum of what its numbers become, which some of them stay.
void gather_second(Lane lane, NUMBER pivots[CELLS_MOST], NUMBER scales[CELLS_MOST], inout Cell cells[CELLS_MOST]) {
  EACH_FOUR {
    const uint own = cell_of(f);
    float4 four = values[f];
    if (is_softmax() || has_mean()) four -= four_of(pivots[own]);
    float4 terms = four;
    if (is_softmax()) terms = powers_of_e(four);
    values[f] = OPERATION == SOFTMAX ? terms : four;
    if (OPERATION == BY_NORM_1) {
      precise float4 scaled_four = abs(four);
      if (may_overflow()) scaled_four = scaled_four * parameters[0].down;
      terms = scaled_four;
    }
    if (has_squares()) {
      precise float4 scaled_four = four;
      if (has_scales()) scaled_four = four * four_of(scales[own]);
      terms = scaled_four * scaled_four;
    }
    if (OPERATION != CENTER && has_vector(lane, f / fours_per_vector()))
      cells[own] = with_sum(cells[own], sum_of(terms), 0.0f);
  }
}

// --- outputs

uint operand_offset(uint operand, uint element) {
  uint offset = 0;
  for (uint step = parameters[0].rank; step > 0; --step) {
    const uint a = step - 1;
    const uint rest = element / parameters[0].extents[a];
    offset += (element - rest * parameters[0].extents[a]) * parameters[0].strides[8 * operand + a];
    element = rest;
  }
  return offset;
}

uint4 operand_vector(uint input, uint at) { return load_vector(input, at); }

// Four elements of the scale, input 2, or the bias, input 3, from an output's element on.
float4 operand_four(uint input, uint kind, float constant, uint element) {
  if (kind == IS_CONSTANT) return float4(constant, constant, constant, constant);
  const uint operand = input - 2;
  const uint begin = element & ~(per_vector() - 1);  // of the vector
  const uint offset = operand_offset(operand, begin);
  const uint first = element - begin;
  if (kind == IS_VECTOR) {
    const uint4 vector_ = operand_vector(input, offset / per_vector());
    const uint size = size_of(TYPE);
    return float4(real_of(element_of_vector(vector_, first, size), TYPE),
                  real_of(element_of_vector(vector_, first + 1, size), TYPE),
                  real_of(element_of_vector(vector_, first + 2, size), TYPE),
                  real_of(element_of_vector(vector_, first + 3, size), TYPE));
  }
  uint step = 0;
  if (kind == IS_STRIDED) step = parameters[0].strides[8 * operand + parameters[0].rank - 1];
  const uint at = offset + first * step;
  return float4(load_real(input, at, TYPE), load_real(input, at + step, TYPE), load_real(input, at + 2 * step, TYPE),
                load_real(input, at + 3 * step, TYPE));
}

float activated(float a) {
  if (ACTIVATION == 0) return a;
  a = a * parameters[0].input_scale + parameters[0].input_bias;
  const float b = 0.0f;  // of expressions that no activation has
  const float p0 = parameters[0].reals[0], p1 = parameters[0].reals[1];
  float result = 0.0f;
  uint at = 1;
#define T float
#define EXPRESSION_GROUP 4
#define EXPRESSION(name, inputs, number_class, store, expression) \
  if (ACTIVATION == at) result = expression;                      \
  ++at;
#include "expressions.def"
#undef EXPRESSION
  return result;
}

float4 result_of(float4 four, NUMBER factor, uint element) {
  if (OPERATION == LOG_SOFTMAX) four -= four_of(factor);
  if (OPERATION == SOFTMAX) four *= four_of(factor);
  if (OPERATION == BY_NORM_1 || OPERATION == BY_NORM_2) four /= four_of(factor);
  if (OPERATION >= CENTER && OPERATION <= NORMALIZE_ABOUT_0)
    four = four * (operand_four(2, SCALE, parameters[0].scale, element) * four_of(factor)) +
           operand_four(3, BIAS, parameters[0].bias, element);
  if (ACTIVATION == 0) return four;
  LOOP for (uint turn = 0; turn < 4; ++turn) four = with_last(four, activated(four.x));
  return four;
}

uint2 halves_of(float4 four) {
  uint4 bits = uint4(0, 0, 0, 0);
  LOOP
  for (uint turn = 0; turn < 4; ++turn) {
    bits = uint4(bits.yzw, half_bits(four.x));
    four = turned(four);
  }
  return uint2(bits.x | bits.y << 16, bits.z | bits.w << 16);
}

void write_outputs(Lane lane, NUMBER factors[CELLS_MOST]) {
  uint2 before = uint2(0, 0);  // the first half of a vector
  EACH_FOUR {
    const uint v = f / fours_per_vector();
    if (has_vector(lane, v)) {
      const uint at = vector_at(lane, v);
      const uint place = f & (fours_per_vector() - 1);
      const float4 result = result_of(values[f], factors[cell_of(f)], at * per_vector() + 4 * place);
      if (TYPE == FLOAT32) {
        output0[at] = asuint(result);
      } else if (place == 0) {
        before = halves_of(result);
      } else {
        output0[at] = uint4(before, halves_of(result));
      }
    }
  }
}

#ifndef COLUMNS
// --- parts of long rows

// Exponentials of minus infinities are 0, unless these are all that a row has.
float pivot_in_part(Cell first) {
  const float pivot = pivot_of(first);
  return is_softmax() && pivot == -infinity() ? 0.0f : pivot;
}

float load_float(uint at) { return asfloat(scratch[at]); }

void store_part(uint part, Cell first, Cell second) {
  scratch[8 * part] = asuint(first.high);
  scratch[8 * part + 1] = asuint(first.low);
  scratch[8 * part + 2] = asuint(first.largest);
  scratch[8 * part + 3] = asuint(second.high);
  scratch[8 * part + 4] = asuint(second.low);
  scratch[8 * part + 5] = asuint(pivot_in_part(first));
}

Cell first_of_part(uint part) {
  Cell cell;
  cell.high = load_float(8 * part);
  cell.low = load_float(8 * part + 1);
  cell.largest = load_float(8 * part + 2);
  return cell;
}

// What a part's sum is about the row's pivot, and in the row's scale.
Cell second_of_part(uint part, bool is_last, float pivot, Cell first) {
  const float largest = load_float(8 * part + 2), own_pivot = load_float(8 * part + 5);
  Cell cell = empty_cell();
  cell.high = load_float(8 * part + 3);
  cell.low = load_float(8 * part + 4);
  if (is_softmax()) {
    const float factor = largest == -infinity() ? 1.0f : exp_of(largest - pivot);
    cell.high *= factor;
    cell.low *= factor;
  }
  if (has_squares()) {
    const int shift = 2 * (exponent_of(largest) - exponent_of(first.largest));
    cell.high = times_power(cell.high, shift);
    cell.low = times_power(cell.low, shift);
  }
  if (has_squares() && has_mean()) {
    const float difference = (own_pivot - pivot) * scale_of(first.largest);
    cell = with_sum(cell, difference * difference * (is_last ? parameters[0].last_length : parameters[0].part_length), 0.0f);
  }
  return cell;
}

// Whether a part's sum and its squares are found at once: every lane has as many numbers, whose squares do not leave the
// range of floats. Direct3D's compiler does not see that all lanes of a group agree on this.
bool has_moments(Lane lane) {
#ifdef DMLOP_VULKAN
  return OPERATION == NORMALIZE && TYPE == FLOAT16 && lane.count == VECTORS * lane.lanes;
#else
  return false;
#endif
}

// The sum of a part, and the squares about its mean. A lane begins with its own mean. Two that have n numbers each, and
// whose sums differ by d, together have d^2 / 2n more than the squares about the mean of each.
void gather_moments(Lane lane, uint in_group, inout Cell first, inout Cell second) {
  EACH_FOUR first = with_sum(first, sum_of(values[f]), 0.0f);
  float half_share = 0.5f / (4.0f * float(fours()));  // 1 / 2n
  const float mean = (first.high + first.low) * 2.0f * half_share;
  float squares = 0.0f;
  EACH_FOUR {
    const float4 four = values[f] - mean;
    squares += sum_of(four * four);
  }
  shared_high[in_group] = first.high;
  shared_low[in_group] = first.low;
  shared_largest[in_group] = squares;
  GroupMemoryBarrierWithGroupSync();
  [loop]
  for (uint half_ = lane.lanes >> 1; half_ > 0; half_ >>= 1) {
    if (lane.position < half_) {
      const uint other = in_group + half_;
      const float difference = first.high - shared_high[other];
      squares += shared_largest[other] + difference * difference * half_share;
      first = with_sum(first, shared_high[other], shared_low[other]);
      shared_high[in_group] = first.high;
      shared_low[in_group] = first.low;
      shared_largest[in_group] = squares;
    }
    half_share *= 0.5f;
    GroupMemoryBarrierWithGroupSync();
  }
  second.high = squares;  // of the first lane, which stores the part
}

// Each row's pivot and factor.
void join_parts(uint row, bool is_active, Lane lane, uint in_group, uint results) {
  Cell firsts[1], seconds[1];
  firsts[0] = empty_cell();
  seconds[0] = empty_cell();
  const uint begin = row * parameters[0].parts;
  const uint count = is_active ? parameters[0].parts : 0;
  for (uint i = lane.position; i < count; i += lane.lanes) firsts[0] = joined(firsts[0], first_of_part(begin + i));
  join_lanes(firsts, lane, in_group);
  const float pivot = pivot_of(firsts[0]);
  for (uint k = lane.position; k < count; k += lane.lanes)
    seconds[0] = joined(seconds[0], second_of_part(begin + k, k + 1 == parameters[0].parts, pivot, firsts[0]));
  join_lanes(seconds, lane, in_group);
  if (is_active && lane.position == 0) {
    scratch[results + 2 * row] = asuint(pivot);
    scratch[results + 2 * row + 1] = asuint(factor_of(seconds[0].high, seconds[0].low, firsts[0].largest));
  }
}
#endif

void run(uint thread, uint in_group) {
  Lane lane;
  lane.lanes = 1u << BASE;
  scaled_length = float2(parameters[0].scaled_length_high, parameters[0].scaled_length_low);
#ifdef COLUMNS
  lane.unit = GROUP_SIZE >> BASE;
  const uint task = ((thread - in_group) >> BASE) + (in_group & (lane.unit - 1));
  const uint outer = task / parameters[0].stride;
  lane.first = outer * parameters[0].count * parameters[0].stride + (task - outer * parameters[0].stride);
  lane.count = parameters[0].count;
#else
  lane.unit = 1;
  const uint task = thread >> BASE;
  uint row = task, part = 0;
  if (IN_PARTS != 0 && STEP != JOIN) {
    row = task / parameters[0].parts;
    part = task - row * parameters[0].parts;
  }
  lane.first = row * parameters[0].count + part * parameters[0].part_count;
  lane.count = min(parameters[0].part_count, parameters[0].count - part * parameters[0].part_count);
#endif
  lane.position = (in_group / lane.unit) & (lane.lanes - 1);
  const bool is_active = task < (END_OF_THREADS >> BASE);
  if (!is_active) lane.count = 0;

  Cell firsts[CELLS_MOST], seconds[CELLS_MOST];
  NUMBER pivots[CELLS_MOST], scales[CELLS_MOST], factors[CELLS_MOST];
  {
    EACH_CELL {
      firsts[c] = empty_cell();
      seconds[c] = empty_cell();
      pivots[c] = 0.0f;
      scales[c] = 0.0f;
      factors[c] = 0.0f;
    }
  }
#ifndef COLUMNS
  const uint results = 8 * parameters[0].parts * parameters[0].rows;
  if (IN_PARTS != 0 && STEP == JOIN) {
    join_parts(row, is_active, lane, in_group, results);
    return;
  }
#endif
  load_values(lane);
  bool is_known = false;
#ifndef COLUMNS
  if (IN_PARTS != 0 && STEP == OUTPUTS) {
    is_known = true;
    pivots[0] = load_float(results + 2 * (is_active ? row : 0));
    factors[0] = load_float(results + 2 * (is_active ? row : 0) + 1);
  }
  if (IN_PARTS != 0 && STEP == PARTS) {
    const bool is_last = part + 1 == parameters[0].parts;
    scaled_length = float2((is_last ? parameters[0].last_length : parameters[0].part_length) * parameters[0].down, 0.0f);
    if (has_moments(lane)) {
      gather_moments(lane, in_group, firsts[0], seconds[0]);
      if (is_active && lane.position == 0) store_part(task, firsts[0], seconds[0]);
      return;
    }
  }
#endif
  if (!is_known) {
    gather_first(lane, firsts);
    if (is_softmax() || has_mean() || has_squares()) join_lanes(firsts, lane, in_group);
    EACH_CELL {
      pivots[c] = pivot_of(firsts[c]);
#ifndef COLUMNS
      if (IN_PARTS != 0) pivots[c] = pivot_in_part(firsts[c]);
#endif
      scales[c] = scales_of(firsts[c].largest);
    }
  }
  if (is_known) {
    shift_values(pivots);
  } else {
    gather_second(lane, pivots, scales, seconds);
    if (OPERATION != CENTER) join_lanes(seconds, lane, in_group);
    if (IN_PARTS == 0) {
      EACH_CELL factors[c] = factors_of(seconds[c], firsts[c]);
    }
  }
#ifndef COLUMNS
  if (IN_PARTS != 0 && STEP == PARTS) {
    if (is_active && lane.position == 0) store_part(task, firsts[0], seconds[0]);
    return;
  }
#endif
  write_outputs(lane, factors);
}
