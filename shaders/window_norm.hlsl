// Norms of windows (lib/ops/kernels/window.hpp) for windows that fit one thread. A thread computes the outputs of
// 16 bytes. Their windows are side by side and share loads if they move by one element.
//
// Variants: those of lp_norm.hlsli.
#include "parameters/window_norm.hlsli"
#define CONSTANTS WindowNormConstants
#include "bindings.hlsli"

WINDOW_NORM_SPECIALIZATION(SPECIALIZED)

#if IS_FLOAT16
#define LEAST_SUM 1e-15
#else
#define LEAST_SUM 1e-24
#endif
#include "lp_norm.hlsli"

// One number for each output of a thread. These are vectors, not arrays, because compilers keep
// vectors in registers.
struct Lanes {
  float4 a;
#if IS_FLOAT16
  float4 b;
#endif
};

Lanes zero_lanes() {
  Lanes lanes;
  lanes.a = float4(0, 0, 0, 0);
#if IS_FLOAT16
  lanes.b = float4(0, 0, 0, 0);
#endif
  return lanes;
}

void add_lanes(inout Lanes sums, Lanes values) {
  sums.a += values.a;
#if IS_FLOAT16
  sums.b += values.b;
#endif
}

// add_exactly for vectors.
void add_vector_exactly(inout float4 sum, inout float4 lost, float4 value) {
  precise const float4 total = sum + value;
  precise const float4 added = total - sum;
  precise const float4 error = (sum - (total - added)) + (value - added);
  sum = total;
  const bool4 finite = (asuint(error) & 0x7F800000) != 0x7F800000;
  lost += float4(finite.x ? error.x : 0, finite.y ? error.y : 0, finite.z ? error.z : 0, finite.w ? error.w : 0);
}

// Gives every lane its right neighbor's value, and the last lane `next`.
void shift_lanes(inout Lanes lanes, float next) {
#if IS_FLOAT16
  lanes.a = float4(lanes.a.yzw, lanes.b.x);
  lanes.b = float4(lanes.b.yzw, next);
#else
  lanes.a = float4(lanes.a.yzw, next);
#endif
}

// |x|^P of one element of an input row, or 0 outside the row. This is a branch because ?: would
// load first, and clamping the index costs 4 to 9 percent of the time of small windows.
float power_at(int row, int x) {
  float magnitude = 0;
  [branch]
  if (uint(x) < constants.width.x) magnitude = load_magnitude(row + x * int(constants.width.z));
  return raised(magnitude);
}

// The powers at x, x + step, x + 2 step…
Lanes powers_at(int row, int x, int step) {
  Lanes powers;
  powers.a = float4(power_at(row, x), power_at(row, x + step), power_at(row, x + 2 * step), power_at(row, x + 3 * step));
#if IS_FLOAT16
  powers.b = float4(power_at(row, x + 4 * step), power_at(row, x + 5 * step), power_at(row, x + 6 * step), power_at(row, x + 7 * step));
#endif
  return powers;
}

// The sums of columns [begin, end) of one row of the windows; the first window begins at `x`.
Lanes column_sums(int row, int x, int begin, int end) {
  const int step = int(constants.strides.z);
  const int dilation = DILATIONS.z;
  Lanes powers = powers_at(row, x + begin * dilation, step);
  Lanes sums = powers;
  for (int column = begin + 1; column < end; ++column) {
    // Windows that move by one of their elements share all but one column.
    if (step == dilation) {
      shift_lanes(powers, power_at(row, x + (column + PER_THREAD - 1) * dilation));
    } else {
      powers = powers_at(row, x + column * dilation, step);
    }
    add_lanes(sums, powers);
  }
  return sums;
}

// How many columns are summed plainly before their sum is added to the exact one.
#define PLAIN_COLUMNS 8

// How many additions in a row plain float32 may make. Each errs by at most half a unit in the last
// place, and a root of two or more halves the accumulated error.
#define PLAIN_ADDITIONS (P == 1 ? 7 : 14)

// The sums of adjacent windows; `window` is the first.
Lanes window_sums(Window window) {
  const int3 size = window_size();
  const int2 first = first_inside(window).xy;
  const int2 last = last_inside(window).xy;
  const bool plain = size.x * size.y + size.z <= PLAIN_ADDITIONS;
  const int chunk = plain ? size.z : PLAIN_COLUMNS;
  Lanes sums = zero_lanes();
  Lanes lost = zero_lanes();
  for (int d = first.x; d < last.x; ++d) {
    for (int h = first.y; h < last.y; ++h) {
      const int row = row_at(window, d, h);
      for (int column = 0; column < size.z; column += chunk) {
        const Lanes part = column_sums(row, window.begin.z, column, min(column + chunk, size.z));
        if (plain) {
          add_lanes(sums, part);
        } else {
          add_vector_exactly(sums.a, lost.a, part.a);
#if IS_FLOAT16
          add_vector_exactly(sums.b, lost.b, part.b);
#endif
        }
      }
    }
  }
  add_lanes(sums, lost);
  return sums;
}

// The sums of a thread's windows, which may lie in several rows. Each row's windows are shifted to
// the left so that its first window is in the lane after the one where the previous row ended.
Lanes thread_sums(uint row, int x) {
  const int width = int(constants.width.y);
  const uint rows = constants.elements / constants.width.y;
  Lanes sums = window_sums(window_at(row, x));
  for (int done = width - x; done < PER_THREAD; done += width) {
    row = min(row + 1, rows - 1);
    const Lanes next = window_sums(window_at(row, -done));
    const bool4 taken = int4(0, 1, 2, 3) >= done;
    sums.a = float4(taken.x ? next.a.x : sums.a.x, taken.y ? next.a.y : sums.a.y, taken.z ? next.a.z : sums.a.z, taken.w ? next.a.w : sums.a.w);
#if IS_FLOAT16
    const bool4 taken_b = int4(4, 5, 6, 7) >= done;
    sums.b = float4(taken_b.x ? next.b.x : sums.b.x, taken_b.y ? next.b.y : sums.b.y, taken_b.z ? next.b.z : sums.b.z, taken_b.w ? next.b.w : sums.b.w);
#endif
  }
  return sums;
}

bool any_extreme(float4 sums) { return is_extreme(sums.x) || is_extreme(sums.y) || is_extreme(sums.z) || is_extreme(sums.w); }

float4 roots(float4 sums) { return float4(root(sums.x), root(sums.y), root(sums.z), root(sums.w)); }

Lanes norms_of(Lanes sums, uint first) {
  Lanes norms;
  norms.a = roots(sums.a);
  bool extreme = any_extreme(sums.a);
#if IS_FLOAT16
  norms.b = roots(sums.b);
  extreme = extreme || any_extreme(sums.b);
#endif
  if (!extreme) return norms;
  // The slow path exists once in the code: lanes rotate through the first place.
  for (uint i = 0; i < PER_THREAD; ++i) {
    const uint element = min(first + i, constants.elements - 1);
    const uint row = element / constants.width.y;
    float norm = norms.a.x;
    if (is_extreme(sums.a.x)) norm = scaled_norm(window_at(row, int(element - row * constants.width.y)));
    shift_lanes(norms, norm);
    shift_lanes(sums, sums.a.x);
  }
  return norms;
}

void run(uint thread) {
  const uint first = thread * PER_THREAD;
  const uint row = first / constants.width.y;
  const Lanes norms = norms_of(thread_sums(row, int(first - row * constants.width.y)), first);
#if IS_FLOAT16
  const uint4 low = uint4(half_bits(norms.a.x), half_bits(norms.a.z), half_bits(norms.b.x), half_bits(norms.b.z));
  const uint4 high = uint4(half_bits(norms.a.y), half_bits(norms.a.w), half_bits(norms.b.y), half_bits(norms.b.w));
  output0[thread] = low | (high << 16);
#else
  output0[thread] = asuint(norms.a);
#endif
}
