// Lp pooling (lib/ops/plan.hpp, LpPoolingPlan) in float32. One thread makes the outputs of 16 bytes;
// where they lie in one row their windows share the loads.
//
// Variants: ELEMENT_SIZE 2 (float16 in and out) or 4; P 1, 2, 3, or 0 for the exponent in the constants.
//
// constants[0]: x elements, y groups per row, z source offset, w exponent
// constants[1]: x channels, y batch stride, z channel stride
// constants[2 + a], a = 0 depth, 1 height, 2 width: x input extent, y output extent, z input stride, w window
// constants[5]: window strides; constants[6]: start paddings, both depth, height, width
#include "common.hlsli"

#define PER_THREAD (16 / ELEMENT_SIZE)

float load_magnitude(int at) {
#if ELEMENT_SIZE == 2
  return abs(f16tof32((input0[uint(at) >> 1] >> ((uint(at) & 1) * 16)) & 0xFFFF));
#else
  return abs(asfloat(input0[uint(at)]));
#endif
}

bool is_nan(float x) { return (asuint(x) & 0x7FFFFFFF) > 0x7F800000; }
bool is_infinite(float x) { return (asuint(x) & 0x7FFFFFFF) == 0x7F800000; }

#if P == 0
#define EXPONENT constants[0].w
#else
#define EXPONENT P
#endif

// x^exponent by squaring.
float whole_power(float x, uint exponent) {
  float result = 1;
  while (exponent != 0) {
    if ((exponent & 1) != 0) result *= x;
    x *= x;
    exponent >>= 1;
  }
  return result;
}

float raised(float x) {
#if P == 1
  return x;
#elif P == 2
  return x * x;
#elif P == 3
  return x * x * x;
#else
  return whole_power(x, EXPONENT);
#endif
}

// sum^(1/P), with a Newton step behind the approximate functions.
float root(float sum) {
#if P == 1
  return sum;
#else
  if (sum == 0 || is_nan(sum) || is_infinite(sum)) return sum;
#if P == 2
  const float y = sqrt(sum);
  return 0.5 * (y + sum / y);
#else
  const uint exponent = EXPONENT;
  const float y = exp2(log2(sum) / float(exponent));
  // y - (y^p - sum) / (p * y^(p-1)); y^(p-1) is about sum / y, which cannot overflow.
  const float power = whole_power(y, exponent - 1);
  return power == 0 || is_infinite(power) ? y : y - (y - sum / power) / float(exponent);
#endif
#endif
}

// sum + value with the rounding error collected in `lost` (Knuth's two-sum).
void add_exactly(inout float sum, inout float lost, float value) {
  precise const float total = sum + value;
  precise const float added = total - sum;
  precise const float error = (sum - (total - added)) + (value - added);
  sum = total;
  // An infinite or undefined sum has no error worth keeping.
  if (!is_nan(error) && !is_infinite(error)) lost += error;
}

struct Window {
  int base;    // source offset of the image
  int3 begin;  // first source index of the window: may lie in the padding
};

Window window_at(uint element) {
  Window window;
  const uint width = constants[4].y;
  const uint row = element / width;
  const uint plane = row / constants[3].y;
  const uint image = plane / constants[2].y;
  const uint3 place = uint3(plane - image * constants[2].y, row - plane * constants[3].y, element - row * width);
  const uint batch = image / constants[1].x;
  window.base = int(constants[0].z + batch * constants[1].y + (image - batch * constants[1].x) * constants[1].z);
  window.begin = int3(place * constants[5].xyz) - int3(constants[6].xyz);
  return window;
}

int3 window_size() { return int3(constants[2].w, constants[3].w, constants[4].w); }
int3 input_extents() { return int3(constants[2].x, constants[3].x, constants[4].x); }
int3 input_strides() { return int3(constants[2].z, constants[3].z, constants[4].z); }

// 2^exponent of the largest power of two that is no larger than x (x > 0), and its inverse.
float power_of_two(float x) { return asfloat(clamp(asuint(x) >> 23, 1, 253) << 23); }
float inverse_power_of_two(float x) { return asfloat((254 - clamp(asuint(x) >> 23, 1, 253)) << 23); }

// One window with its elements scaled by the largest of them, so that no power leaves float32.
float scaled_norm(Window window) {
  const int3 first = max(window.begin, int3(0, 0, 0));
  const int3 last = min(window.begin + window_size(), input_extents());
  const int3 strides = input_strides();
  float largest = 0;
  bool found_nan = false;
  for (int d = first.x; d < last.x; ++d) {
    for (int h = first.y; h < last.y; ++h) {
      for (int w = first.z; w < last.z; ++w) {
        const float x = load_magnitude(window.base + d * strides.x + h * strides.y + w * strides.z);
        found_nan = found_nan || is_nan(x);
        if (x > largest) largest = x;
      }
    }
  }
  if (found_nan) return asfloat(0x7FC00000);
  if (largest == 0 || is_infinite(largest)) return largest;
  // Powers of two scale exactly; only exponents that 2^P would overflow divide by the largest itself.
  const bool exact = EXPONENT <= 32;
  const float inverse = inverse_power_of_two(largest);
  float sum = 0;
  float lost = 0;
  for (int d = first.x; d < last.x; ++d) {
    for (int h = first.y; h < last.y; ++h) {
      for (int w = first.z; w < last.z; ++w) {
        const float x = load_magnitude(window.base + d * strides.x + h * strides.y + w * strides.z);
        const float ratio = exact ? x * inverse : x == largest ? 1 : x / largest;
        add_exactly(sum, lost, raised(ratio));
      }
    }
  }
  return root(sum + lost) * (exact ? power_of_two(largest) : largest);
}

#if ELEMENT_SIZE == 2
#define LEAST_SUM 1e-15
#else
#define LEAST_SUM 1e-24
#endif

// The norm of a window from its plain sum, or anew where the sum came near the ends of float32.
float norm_of(float sum, Window window) {
  if (is_nan(sum)) return sum;
  if (sum < LEAST_SUM || sum > 1e37) return scaled_norm(window);
  return root(sum);
}

// |x|^P of one element of an input row, 0 outside of it.
float power_at(int row, int x) {
  return uint(x) < constants[4].x ? raised(load_magnitude(row + x * int(constants[4].z))) : 0;
}

// Adds columns [begin, end) of one row of the windows to the partial sums; `x` is where the first
// window begins.
void add_columns(int row, int x, int begin, int end, inout float partial[PER_THREAD]) {
  const int step = int(constants[5].z);
  int column = begin;
  if (step == 1) {
    // Neighbours share all but one column: values move along and each is loaded once.
    float moving[PER_THREAD];
    [unroll]
    for (int i = 0; i < PER_THREAD - 1; ++i) moving[i] = power_at(row, x + begin + i);
    for (; column < end; ++column) {
      moving[PER_THREAD - 1] = power_at(row, x + column + PER_THREAD - 1);
      [unroll]
      for (int k = 0; k < PER_THREAD; ++k) {
        partial[k] += moving[k];
        if (k > 0) moving[k - 1] = moving[k];
      }
    }
  } else {
    for (; column < end; ++column) {
      [unroll]
      for (int m = 0; m < PER_THREAD; ++m) partial[m] += power_at(row, x + m * step + column);
    }
  }
}

// Columns summed plainly before the sum joins the exact one.
#define PLAIN_COLUMNS 8

// Additions in a row that plain float32 may make: each errs by half a unit in the last place at most,
// and a root of two or more halves what has gathered.
#if P == 1
#define PLAIN_ADDITIONS 7
#else
#define PLAIN_ADDITIONS 14
#endif

// The norms of windows that lie side by side in one row.
void neighbouring_norms(Window window, out float norms[PER_THREAD]) {
  const int3 strides = input_strides();
  const int3 size = window_size();
  const int2 first = max(window.begin.xy, int2(0, 0));
  const int2 last = min(window.begin.xy + size.xy, input_extents().xy);
  const bool plain = size.x * size.y + size.z <= PLAIN_ADDITIONS;
  float sums[PER_THREAD];
  float lost[PER_THREAD];
  [unroll]
  for (int i = 0; i < PER_THREAD; ++i) {
    sums[i] = 0;
    lost[i] = 0;
  }
  for (int d = first.x; d < last.x; ++d) {
    for (int h = first.y; h < last.y; ++h) {
      const int row = window.base + d * strides.x + h * strides.y;
      if (plain) {
        float partial[PER_THREAD];
        [unroll]
        for (int j = 0; j < PER_THREAD; ++j) partial[j] = 0;
        add_columns(row, window.begin.z, 0, size.z, partial);
        [unroll]
        for (int k = 0; k < PER_THREAD; ++k) sums[k] += partial[k];
        continue;
      }
      for (int column = 0; column < size.z; column += PLAIN_COLUMNS) {
        float part[PER_THREAD];
        [unroll]
        for (int m = 0; m < PER_THREAD; ++m) part[m] = 0;
        add_columns(row, window.begin.z, column, min(column + PLAIN_COLUMNS, size.z), part);
        [unroll]
        for (int n = 0; n < PER_THREAD; ++n) add_exactly(sums[n], lost[n], part[n]);
      }
    }
  }
  [unroll]
  for (int q = 0; q < PER_THREAD; ++q) {
    norms[q] = norm_of(sums[q] + lost[q], window);
    window.begin.z += int(constants[5].z);
  }
}

[numthreads(GROUP_SIZE, 1, 1)]
void main(uint3 group : SV_GroupID, uint lane : SV_GroupIndex) {
  const uint index = thread_index(group, lane);
  const uint first = index * PER_THREAD;
  const uint total = constants[0].x;
  if (first >= total) return;
  const uint width = constants[4].y;
  float norms[PER_THREAD];
  if (first % width + PER_THREAD <= width) {
    neighbouring_norms(window_at(first), norms);
  } else {
    [unroll]
    for (int i = 0; i < PER_THREAD; ++i) {
      norms[i] = scaled_norm(window_at(min(first + uint(i), total - 1)));
    }
  }
#if ELEMENT_SIZE == 2
  output0[index] = uint4(f32tof16(norms[0]) | (f32tof16(norms[1]) << 16), f32tof16(norms[2]) | (f32tof16(norms[3]) << 16),
                         f32tof16(norms[4]) | (f32tof16(norms[5]) << 16), f32tof16(norms[6]) | (f32tof16(norms[7]) << 16));
#else
  output0[index] = asuint(float4(norms[0], norms[1], norms[2], norms[3]));
#endif
}
