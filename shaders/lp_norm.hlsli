// Shared by the kernels of norms of windows: powers, roots and exact sums in float32, windows, and norms of numbers
// whose powers do not fit float32.
//
// IS_FLOAT16 1 (FLOAT16 in and out) or 0 (FLOAT32); P 1, 2, 3, or 0 for the exponent in the constants; LEAST_SUM, below
// which a plain sum of powers may have lost too much; DILATIONS, if they are not those of the constants.
//
// Its kernels have CONSTANTS WindowNormConstants; input 1 is the tensor, with what is around it.

#include "half_bits.hlsli"

#define PER_THREAD (4 << IS_FLOAT16)
#define INPUT_OFFSET (SLACK_BYTES / 4 << IS_FLOAT16)  // of the first element
#ifndef DILATIONS
#define DILATIONS int3(constants.strides.w, constants.paddings.w, constants.width_dilation)
#endif

float load_magnitude(int at) {
  if (IS_FLOAT16 != 0) return abs(f16tof32((input1[uint(at) >> 1] >> ((uint(at) & 1) * 16)) & 0xFFFF));
  return abs(asfloat(input1[uint(at)]));
}

bool is_nan(float x) { return (asuint(x) & 0x7FFFFFFF) > 0x7F800000; }
bool is_infinite(float x) { return (asuint(x) & 0x7FFFFFFF) == 0x7F800000; }

#define EXPONENT (P == 0 ? constants.exponent : P)

// x^exponent by squaring, four bits of the exponent at a time, because loops are counted (bindings.hlsli).
float whole_power(float x, uint exponent) {
  float result = 1;
  for (; exponent != 0; exponent >>= 4) {
    result *= (exponent & 1) != 0 ? x : 1;
    const float x2 = x * x;
    result *= (exponent & 2) != 0 ? x2 : 1;
    const float x4 = x2 * x2;
    result *= (exponent & 4) != 0 ? x4 : 1;
    const float x8 = x4 * x4;
    result *= (exponent & 8) != 0 ? x8 : 1;
    x = x8 * x8;
  }
  return result;
}

float raised(float x) {
  if (P == 1) return x;
  if (P == 2) return x * x;
  if (P == 3) return x * x * x;
  return whole_power(x, EXPONENT);
}

// sum^(1/P). A Newton step improves the result of the approximate functions.
float root(float sum) {
  if (P == 1 || sum == 0 || is_nan(sum) || is_infinite(sum)) return sum;
  if (P == 2) {
    const float y = sqrt(sum);
    return 0.5 * (y + sum / y);
  }
  const uint exponent = EXPONENT;
  const float y = exp2(log2(sum) / float(exponent));
  // y - (y^p - sum) / (p * y^(p-1)); y^(p-1) is about sum / y, which cannot overflow.
  const float power = P == 3 ? y * y : whole_power(y, exponent - 1);
  return power == 0 || is_infinite(power) ? y : y - (y - sum / power) / float(exponent);
}

// sum + value with the rounding error collected in `lost` (Knuth's two-sum).
void add_exactly(inout float sum, inout float lost, float value) {
  precise const float total = sum + value;
  precise const float added = total - sum;
  precise const float error = (sum - (total - added)) + (value - added);
  sum = total;
  // If the sum is infinite or NaN, the error is not worth keeping.
  if (!is_nan(error) && !is_infinite(error)) lost += error;
}

struct Window {
  int base;    // source offset of the image
  int3 begin;  // first source index of the window: may lie in the padding
};

// The window of output `x` of a row. Rows count batch, channel, depth and height.
Window window_at(uint row, int x) {
  Window window;
  const uint plane = row / constants.height.y;
  const uint image = plane / constants.depth.y;
  const uint batch = image / constants.channels;
  const int3 place = int3(int(plane - image * constants.depth.y), int(row - plane * constants.height.y), x);
  window.base = int(INPUT_OFFSET + batch * constants.batch_stride + (image - batch * constants.channels) * constants.channel_stride);
  window.begin = place * int3(constants.strides.xyz) - int3(constants.paddings.xyz);
  return window;
}

int3 window_size() { return int3(constants.depth.w, constants.height.w, constants.width.w); }
int3 input_extents() { return int3(constants.depth.x, constants.height.x, constants.width.x); }
int3 input_strides() { return int3(constants.depth.z, constants.height.z, constants.width.z); }

// How many elements of a window, without end, lie less than `distance` behind its begin.
int3 elements_before(int3 distance) {
  const int3 ahead = max(distance, int3(0, 0, 0));
  const int3 dilations = DILATIONS;
  [branch]
  if (all(dilations == int3(1, 1, 1))) return ahead;
  return int3((uint3(ahead) + uint3(dilations) - 1) / uint3(dilations));
}

// The elements of a window that are in the input: from the first to the one before the last.
int3 first_inside(Window window) { return elements_before(-window.begin); }
int3 last_inside(Window window) { return min(window_size(), elements_before(input_extents() - window.begin)); }

// The source offset of a row of a window, as if the row began with the first column of the input.
int row_at(Window window, int d, int h) {
  const int2 at = window.begin.xy + int2(d, h) * DILATIONS.xy;
  return window.base + at.x * input_strides().x + at.y * input_strides().y;
}
// The source offset of an element in that row.
int column_at(Window window, int w) { return (window.begin.z + w * DILATIONS.z) * input_strides().z; }

// The largest power of two that is not larger than x (x > 0), and its inverse.
float power_of_two(float x) { return asfloat(clamp(asuint(x) >> 23, 1, 253) << 23); }
float inverse_power_of_two(float x) { return asfloat((254 - clamp(asuint(x) >> 23, 1, 253)) << 23); }

// The bits of |x|. Magnitudes compare as integers, and no device flushes an integer to 0.
uint load_bits(int at) {
  if (IS_FLOAT16 != 0) return asuint(load_magnitude(at));
  return input1[uint(at)] & 0x7FFFFFFF;
}

// GPUs may treat denormals as 0. If a window's largest element is below 2^-60, its elements are multiplied by
// 2^100, with denormals (multiples of 2^-149) handled as integers. The norm is scaled back afterwards.
float lifted(uint bits, bool tiny) {
  if (!tiny) return asfloat(bits);
  return bits < 0x00800000 ? float(bits) * 1.7763568394002505e-15 : asfloat(bits) * 1.2676506002282294e30;
}

float lowered(float norm, bool tiny) {
  if (!tiny) return norm;
  // Below 2^-26 the result itself is denormal, and its bits count units of 2^-149.
  return norm < 1.4901161193847656e-8 ? asfloat(uint(norm * 562949953421312.0 + 0.5)) : norm * 7.888609052210118e-31;
}

// How the elements of a window are scaled so that all their powers fit float32.
struct Scale {
  uint largest_bits;  // of the largest magnitude, which is neither 0 nor special
  float largest;      // lifted
  float inverse;
  bool tiny;
  bool exact;
};

// Whether a window with this largest magnitude needs no sum: it has only zeros, or an infinity or a NaN.
bool needs_no_sum(uint largest_bits) { return largest_bits == 0 || largest_bits >= 0x7F800000; }
float norm_without_sum(uint largest_bits) { return asfloat(largest_bits > 0x7F800000 ? 0x7FC00000 : largest_bits); }

Scale scale_of(uint largest_bits) {
  Scale scale;
  scale.largest_bits = largest_bits;
  scale.tiny = largest_bits < 0x21800000;
  scale.largest = lifted(largest_bits, scale.tiny);
  // Powers of two scale exactly. Only exponents for which 2^P would overflow divide by the largest element
  // itself, which is scaled, too: a device may divide by multiplying with an inverse, and flush that to 0 if the
  // element is above 2^126.
  scale.exact = EXPONENT <= 32;
  scale.inverse = inverse_power_of_two(scale.largest);
  return scale;
}

// The power of an element in the scaled sum, and the norm of that sum.
float scaled_power(Scale scale, uint bits) {
  const float value = lifted(bits, scale.tiny);
  return raised(scale.exact ? value * scale.inverse : bits == scale.largest_bits ? 1 : value * scale.inverse / (scale.largest * scale.inverse));
}
float norm_of_scaled(Scale scale, float sum) {
  return lowered(root(sum) * (scale.exact ? power_of_two(scale.largest) : scale.largest), scale.tiny);
}

// Whether a plain sum came near the limits of float32, where powers are lost.
bool is_extreme(float sum) { return !is_nan(sum) && (sum < LEAST_SUM || sum > 1e37); }

// The norm of one window, with its elements scaled by the largest of them.
float scaled_norm(Window window) {
  const int3 first = first_inside(window);
  const int3 last = last_inside(window);
  uint largest_bits = 0;
  for (int d = first.x; d < last.x; ++d) {
    for (int h = first.y; h < last.y; ++h) {
      for (int w = first.z; w < last.z; ++w) {
        largest_bits = max(largest_bits, load_bits(row_at(window, d, h) + column_at(window, w)));
      }
    }
  }
  if (needs_no_sum(largest_bits)) return norm_without_sum(largest_bits);
  const Scale scale = scale_of(largest_bits);
  float sum = 0;
  float lost = 0;
  for (int e = first.x; e < last.x; ++e) {
    for (int i = first.y; i < last.y; ++i) {
      for (int x = first.z; x < last.z; ++x) {
        const uint bits = load_bits(row_at(window, e, i) + column_at(window, x));
        add_exactly(sum, lost, scaled_power(scale, bits));
      }
    }
  }
  return norm_of_scaled(scale, sum + lost);
}
