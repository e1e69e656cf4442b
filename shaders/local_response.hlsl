// LOCAL_RESPONSE_NORMALIZATION across channels: passes of a plan that lib/gpu/resident/local_response.cpp makes one. A
// thread owns vectors of 16 bytes in some channels, one behind the other, and keeps the elements of a window, so that
// memory is read once.
#include "parameters/local_response.hlsli"
#define PARAMETERS LocalResponseParameters
#define LOADS_VECTORS
#include "resident.hlsli"
#include "functions.hlsli"

SPECIALIZED(0, TYPE)    // FLOAT32 or FLOAT16
SPECIALIZED(1, BEFORE)  // channels of a window before that of the output
SPECIALIZED(2, WINDOW)  // all of them, at most WINDOW_MOST
#define WINDOW_MOST 8

#define LOADS 4
// Direct3D's compiler takes long to unroll loops.
#ifdef DMLOP_VULKAN
#define LOOP [unroll]
#else
#define LOOP [loop]
#endif

// A vector as numbers; with FLOAT32 the second four is unused.
struct Numbers {
  float4 low;
  float4 high;
};

Numbers numbers_of(uint4 vector_) {
  Numbers numbers;
  numbers.low = asfloat(vector_);
  numbers.high = float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (TYPE == FLOAT16) {
    numbers.low = float4(f16tof32(vector_.x & 0xFFFF), f16tof32(vector_.x >> 16), f16tof32(vector_.y & 0xFFFF),
                         f16tof32(vector_.y >> 16));
    numbers.high = float4(f16tof32(vector_.z & 0xFFFF), f16tof32(vector_.z >> 16), f16tof32(vector_.w & 0xFFFF),
                          f16tof32(vector_.w >> 16));
  }
  return numbers;
}

// The planner sees to it that no base is negative.
float response_of(float x, float sum) {
  const float base = parameters[0].bias + parameters[0].factor * sum;
  return x * exp_of(-parameters[0].beta * log_of(base));
}

float4 responses_of(float4 four, float4 sum) {
  float numbers[4] = {four.x, four.y, four.z, four.w};
  const float sums[4] = {sum.x, sum.y, sum.z, sum.w};
  LOOP
  for (uint i = 0; i < 4; ++i) numbers[i] = response_of(numbers[i], sums[i]);
  return float4(numbers[0], numbers[1], numbers[2], numbers[3]);
}

uint2 halves_of(float4 four) {
  return uint2(half_bits(four.x) | half_bits(four.y) << 16, half_bits(four.z) | half_bits(four.w) << 16);
}

static Numbers window[WINDOW_MOST];

void push(uint4 vector_) {
  LOOP
  for (uint i = 0; i + 1 < WINDOW_MOST; ++i) {
    if (i + 1 < WINDOW) window[i] = window[i + 1];
  }
  window[WINDOW - 1] = numbers_of(vector_);
}

uint4 result() {
  float4 low = float4(0.0f, 0.0f, 0.0f, 0.0f), high = low;
  LOOP
  for (uint i = 0; i < WINDOW_MOST; ++i) {
    if (i < WINDOW) {
      low += window[i].low * window[i].low;
      if (TYPE == FLOAT16) high += window[i].high * window[i].high;
    }
  }
  low = responses_of(window[BEFORE].low, low);
  if (TYPE == FLOAT32) return asuint(low);
  return uint4(halves_of(low), halves_of(responses_of(window[BEFORE].high, high)));
}

void run(uint thread) {
  const uint stride = parameters[0].stride, channels = parameters[0].channels;
  const uint row = thread / stride;
  const uint outer = row / parameters[0].segments;
  const uint begin = (row - outer * parameters[0].segments) * parameters[0].length;
  const uint end = min(begin + parameters[0].length, channels);
  const uint first = outer * channels * stride + (thread - row * stride);
  LOOP
  for (uint i = 0; i < WINDOW_MOST; ++i) window[i] = numbers_of(uint4(0, 0, 0, 0));
  // Channel `next` + 1 - WINDOW is the first that the window has, once channel `next` is in it. Those beyond the tensor
  // are 0.
  const uint steps = end - begin + WINDOW - 1;
  for (uint step = 0; step < steps; step += LOADS) {
    // Loads go together.
    uint4 loaded[LOADS];
    LOOP
    for (uint load = 0; load < LOADS; ++load) {
      const uint channel = begin + step + load;  // and BEFORE channels less
      const bool is_inside = step + load < steps && channel >= BEFORE && channel - BEFORE < channels;
      loaded[load] = load_vector(1, first + (is_inside ? channel - BEFORE : 0) * stride);
      if (!is_inside) loaded[load] = uint4(0, 0, 0, 0);
    }
    LOOP
    for (uint l = 0; l < LOADS; ++l) {
      push(loaded[l]);
      const uint done = step + l;
      if (done + 1 >= WINDOW && done < steps) output0[first + (begin + done + 1 - WINDOW) * stride] = result();
    }
  }
}
