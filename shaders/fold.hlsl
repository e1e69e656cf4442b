// Windows put back into an image: FoldKernel (lib/ops/kernels/fold.hpp). A thread sums up the elements of 16 bytes of
// output, in the order of the elements of a window. A stage adds STEP of these, from BASE on; the scratch keeps the sums
// for the next one, SUM_WORDS for each element of the output.
#include "parameters/walk.hlsli"
#include "parameters/fold.hlsli"
#define PARAMETERS FoldParameters
#include "elements.hlsli"
#include "runs.hlsli"
#include "wide.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"

FOLD_SPECIALIZATION(SPECIALIZED)


// The sum of integers, or of numbers with twice the digits of a float.
struct Sum {
  uint2 whole;
  float2 usual;    // a sum, and what it lost by rounding
  float2 large;    // the same for large numbers, which are scaled
  float special;   // the sum of infinities and NaN; else 0
};

// Numbers from here on are large: sums of smaller ones are finite.
#define LARGE 1.26765060e30f          // 2^100
#define LARGE_SCALE 5.42101086e-20f   // 2^-64
#define LARGE_UNSCALE 1.84467441e19f  // 2^64

Sum no_sum() {
  Sum sum;
  sum.whole = uint2(0, 0);
  sum.usual = float2(0.0f, 0.0f);
  sum.large = float2(0.0f, 0.0f);
  sum.special = 0.0f;
  return sum;
}

float2 compensated(float2 sum, float value) {
  precise const float total = sum.x + value;
  precise const float added = total - sum.x;
  precise const float lost = (sum.x - (total - added)) + (value - added);
  precise const float all_lost = sum.y + lost;
  return float2(total, all_lost);
}

void add_real(inout Sum sum, float value) {
  if ((asuint(value) & 0x7F800000u) == 0x7F800000u) {
    sum.special += value;
  } else if (abs(value) >= LARGE) {
    sum.large = compensated(sum.large, value * LARGE_SCALE);
  } else {
    sum.usual = compensated(sum.usual, value);
  }
}

float real_result(Sum sum) {
  if (asuint(sum.special) != 0) return sum.special;
  if (sum.large.x == 0.0f && sum.large.y == 0.0f) return sum.usual.x + sum.usual.y;
  const float2 total = compensated(sum.large, sum.usual.x * LARGE_SCALE);
  return (total.x + (total.y + sum.usual.y * LARGE_SCALE)) * LARGE_UNSCALE;
}

void add(inout Sum sum, uint at) {
  const uint size = size_of(TYPE);
  if (size == 8) {
    sum.whole = wide_sum(sum.whole, load_bits64(1, at));
  } else if (is_floating(TYPE)) {
    add_real(sum, real_of(load_bits(1, at, size), TYPE));
  } else {
    sum.whole.x += load_bits(1, at, size);
  }
}

Sum kept_sum(uint at) {
  Sum sum = no_sum();
  const uint from = at * SUM_WORDS;
  if (is_floating(TYPE)) {
    sum.usual = float2(asfloat(scratch[from]), asfloat(scratch[from + 1]));
    sum.large = float2(asfloat(scratch[from + 2]), asfloat(scratch[from + 3]));
    sum.special = asfloat(scratch[from + 4]);
  } else {
    sum.whole = uint2(scratch[from], scratch[from + 1]);
  }
  return sum;
}

void keep(uint at, Sum sum) {
  const uint to = at * SUM_WORDS;
  if (is_floating(TYPE)) {
    scratch[to] = asuint(sum.usual.x);
    scratch[to + 1] = asuint(sum.usual.y);
    scratch[to + 2] = asuint(sum.large.x);
    scratch[to + 3] = asuint(sum.large.y);
    scratch[to + 4] = asuint(sum.special);
  } else {
    scratch[to] = sum.whole.x;
    scratch[to + 1] = sum.whole.y;
  }
}

// Where element `k` of the window over a place of the image stands in the input, or NO_ELEMENT.
#define NO_ELEMENT 0xFFFFFFFFu
uint source_of(uint k, uint place) {
  uint offset = 0;
  for (uint step = parameters[0].rank; step > 0; --step) {
    const uint a = step - 1;
    const uint next_k = k / parameters[0].windows[a], next_place = place / parameters[0].extents[a];
    const uint padded = place - next_place * parameters[0].extents[a] + parameters[0].paddings[a];
    const uint element = k - next_k * parameters[0].windows[a];
    const uint shift = element * parameters[0].dilations[a];
    const uint distance = padded - min(padded, shift);
    const uint window = distance / parameters[0].window_strides[a];
    if (shift > padded || window * parameters[0].window_strides[a] != distance || window >= parameters[0].places[a])
      return NO_ELEMENT;
    offset += element * parameters[0].element_strides[a] + window * parameters[0].place_strides[a];
    k = next_k;
    place = next_place;
  }
  return offset;
}

Sum sum_at(uint at) {
  Sum sum = no_sum();
  if (BASE > 0) sum = kept_sum(at);
  const uint batch = at / parameters[0].image;
  const uint place = at - batch * parameters[0].image;
  const uint first = place_at(batch).offsets.x;
  const uint end = min(BASE + STEP, parameters[0].window_elements);
  for (uint k = BASE; k < end; ++k) {
    const uint source = source_of(k, place);
    if (source != NO_ELEMENT) add(sum, first + source);
  }
  return sum;
}

void run(uint thread) {
  const uint size = size_of(TYPE);
  const uint moved_size = min(size, 4);
  const uint count = 16 / size;
  const bool is_last = BASE + STEP >= parameters[0].window_elements;
  uint4 result = uint4(0, 0, 0, 0);
  for (uint i = 0; i < count; ++i) {
    const uint at = thread * count + i;
    if (at < parameters[0].elements) {
      const Sum sum = sum_at(at);
      if (!is_last) {
        keep(at, sum);
      } else if (size == 8) {
        put(result, 2 * i, sum.whole.x, 4);
        put(result, 2 * i + 1, sum.whole.y, 4);
      } else {
        put(result, i, is_floating(TYPE) ? bits_of_real(real_result(sum), TYPE) : sum.whole.x, moved_size);
      }
    }
  }
  if (is_last) output0[thread] = result;
}
