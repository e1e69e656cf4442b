// LOCAL_RESPONSE_NORMALIZATION across channels (lib/ops/kernels/local_response.hpp). A thread owns vectors of 16 bytes
// in some channels, one behind the other, so that most elements of a window are in the nearest cache when it reads them
// again.
#include "parameters/local_response.hlsli"
#define PARAMETERS LocalResponseParameters
#define LOADS_VECTORS
#include "elements.hlsli"

LOCAL_RESPONSE_SPECIALIZATION(SPECIALIZED)

#define IS_OF_HALVES (TYPE == FLOAT16)
#include "functions.hlsli"

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
  const bool is_usual = base >= 1.17549435e-38f && base < infinity();
  if (!is_usual) return x * fast_exp(-parameters[0].beta * fast_log(base));
  return x * exp_of(-parameters[0].beta * normal_log_of(base));
}

float4 responses_of(float4 four, float4 sum) {
  LOOP
  for (uint turn = 0; turn < 4; ++turn) {
    four = with_last(four, response_of(four.x, sum.x));
    sum = turned(sum);
  }
  return four;
}

uint2 halves_of(float4 four) {
  return uint2(half_bits(four.x) | half_bits(four.y) << 16, half_bits(four.z) | half_bits(four.w) << 16);
}

// The output of a channel, whose vectors lie behind `first`. Channels beyond the tensor are 0.
uint4 result_of(uint first, uint channel) {
  float4 low = float4(0.0f, 0.0f, 0.0f, 0.0f), high = low;
  Numbers own;
  own.low = low;
  own.high = low;
  LOOP
  for (uint i = 0; i < WINDOW_MOST; ++i) {
    if (i < WINDOW) {
      const uint other = channel + i;  // and BEFORE less
      const bool is_inside = other >= BEFORE && other - BEFORE < parameters[0].channels;
      uint4 vector_ = load_vector(1, first + (is_inside ? other - BEFORE : channel) * parameters[0].stride);
      if (!is_inside) vector_ = uint4(0, 0, 0, 0);
      const Numbers numbers = numbers_of(vector_);
      low += numbers.low * numbers.low;
      if (TYPE == FLOAT16) high += numbers.high * numbers.high;
      if (i == BEFORE) own = numbers;
    }
  }
  low = responses_of(own.low, low);
  if (TYPE == FLOAT32) return asuint(low);
  return uint4(halves_of(low), halves_of(responses_of(own.high, high)));
}

void run(uint thread) {
  const uint stride = parameters[0].stride, channels = parameters[0].channels;
  const uint row = thread / stride;
  const uint outer = row / parameters[0].segments;
  const uint begin = (row - outer * parameters[0].segments) * parameters[0].length;
  const uint end = min(begin + parameters[0].length, channels);
  const uint first = outer * channels * stride + (thread - row * stride);
  [loop]
  for (uint channel = begin; channel < end; ++channel) output0[first + channel * stride] = result_of(first, channel);
}
