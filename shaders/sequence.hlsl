// Equally spaced values, and one value everywhere: SequenceKernel (lib/ops/kernels/sequence.hpp). A thread makes up the
// elements of 16 bytes, or stores one value in several such vectors. Floating-point numbers are computed as integers,
// so that they are rounded as doubles are on the CPU.
#include "parameters/sequence.hlsli"
#define PARAMETERS SequenceParameters
#include "elements.hlsli"
#include "runs.hlsli"
#include "wide.hlsli"

SEQUENCE_SPECIALIZATION(SPECIALIZED)

uint fraction_bits() { return fraction_of(TYPE); }
uint exponent_mask() { return (1u << (bits_of(TYPE) - 1 - fraction_bits())) - 1; }
uint sign_bit() { return 1u << (bits_of(TYPE) - 1); }
uint infinite() { return exponent_mask() << fraction_bits(); }

// magnitude * 2^exponent.
struct Real {
  uint2 magnitude;
  int exponent;
  bool is_negative;
};

bool is_zero(Real a) { return a.magnitude.x == 0 && a.magnitude.y == 0; }

// A finite element.
Real real_at(uint bits) {
  const uint one = 1u << fraction_bits();
  const uint biased = (bits >> fraction_bits()) & exponent_mask();
  const uint fraction = bits & (one - 1);
  Real real;
  real.magnitude = uint2(biased == 0 ? fraction : fraction | one, 0);
  real.exponent = int(max(biased, 1)) - int(exponent_mask() / 2 + fraction_bits());
  real.is_negative = (bits & sign_bit()) != 0;
  return real;
}

// The same number, whose highest bit is bit 62. It must not be 0.
Real normalized(Real a) {
  const uint highest = wide_highest_bit(a.magnitude);
  a.magnitude = wide_shift_left(a.magnitude, 62 - highest);
  a.exponent -= 62 - int(highest);
  return a;
}

// The nearest number with the 53 bits of a double, which the CPU computes with.
Real as_double(Real a) {
  if (is_zero(a)) return a;
  if ((a.magnitude.y & 0x80000000u) != 0) {
    a.magnitude = wide_shift_right_sticky(a.magnitude, 1);
    ++a.exponent;
  }
  a = normalized(a);
  const uint dropped = a.magnitude.x & 0x3FF;
  a.magnitude = uint2((a.magnitude.x >> 10) | (a.magnitude.y << 22), a.magnitude.y >> 10);
  a.exponent += 10;
  if (dropped > 0x200 || (dropped == 0x200 && (a.magnitude.x & 1) != 0))
    a.magnitude = wide_sum(a.magnitude, uint2(1, 0));
  return a;
}

// The lowest bit stands for all that the sum has behind it.
Real sum_of(Real a, Real b) {
  if (is_zero(a) && is_zero(b)) {
    a.is_negative = a.is_negative && b.is_negative;
    return a;
  }
  if (is_zero(a)) return b;
  if (is_zero(b)) return a;
  a = normalized(a);
  b = normalized(b);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && wide_less(a.magnitude, b.magnitude))) {
    const Real larger = b;
    b = a;
    a = larger;
  }
  const uint2 other = wide_shift_right_sticky(b.magnitude, uint(a.exponent - b.exponent));
  if (a.is_negative == b.is_negative) {
    a.magnitude = wide_sum(a.magnitude, other);
  } else {
    a.magnitude = wide_difference(a.magnitude, other);
    if (is_zero(a)) a.is_negative = false;
  }
  return a;
}

// The bits of the nearest element, to the even one of two.
uint rounded(Real a) {
  const uint sign = a.is_negative ? sign_bit() : 0;
  if (is_zero(a)) return sign;
  const uint highest = wide_highest_bit(a.magnitude);
  const int biased = a.exponent + int(highest) + int(exponent_mask() / 2);
  if (biased >= int(exponent_mask())) return sign | infinite();
  // Denormals have fewer bits.
  const uint dropped = 63 - fraction_bits() + (biased < 1 ? uint(1 - biased) : 0);
  if (dropped > 64) return sign;
  const uint2 whole = wide_shift_left(a.magnitude, 63 - highest);
  // One bit behind the last one, and one for all others.
  const uint kept = wide_shift_right_sticky(whole, dropped - 2).x;
  const uint low = kept & 7;  // the last bit, and what is behind it
  const uint mantissa = (kept >> 2) + (low == 3 || low >= 6 ? 1 : 0);
  return sign | (mantissa + (biased > 1 ? uint(biased - 1) << fraction_bits() : 0));
}

bool has_end(uint bits) { return (bits & infinite()) != infinite(); }

uint real_element(uint at) {
  const uint start = parameters[0].start[0], delta = parameters[0].delta[0];
  if (!has_end(start) || !has_end(delta))
    return bits_of_real(real_of(start, TYPE) + float(at) * real_of(delta, TYPE), TYPE);
  Real steps = real_at(delta);
  steps.magnitude = wide_product(steps.magnitude.x, at);
  return rounded(as_double(sum_of(real_at(start), as_double(steps))));
}

uint element(uint at) {
  if (is_floating(TYPE)) return real_element(at);
  return parameters[0].start[0] + at * parameters[0].delta[0];
}

uint2 wide_element(uint at) {
  const uint2 start = uint2(parameters[0].start[0], parameters[0].start[1]);
  const uint2 steps = wide_product(parameters[0].delta[0], at);
  return wide_sum(start, uint2(steps.x, steps.y + parameters[0].delta[1] * at));
}

// The same element everywhere. Threads that are neighbors store neighbors.
void fill(uint thread) {
  const uint size = size_of(TYPE);
  uint2 words = uint2(parameters[0].start[0], parameters[0].start[size == 8 ? 1 : 0]);
  if (size == 2) words = (words & 0xFFFF) * 0x10001;
  if (size == 1) words = (words & 0xFF) * 0x1010101;
  const uint first = thread / GROUP_SIZE * GROUP_SIZE * VECTORS + thread % GROUP_SIZE;
  [unroll]
  for (uint i = 0; i < VECTORS; ++i) {
    if (first + i * GROUP_SIZE < parameters[0].vectors) output0[first + i * GROUP_SIZE] = words.xyxy;
  }
}

void run(uint thread) {
  if (IS_CONSTANT != 0) {
    fill(thread);
    return;
  }
  const uint size = size_of(TYPE);
  if (size == 8) {
    const uint2 first = wide_element(2 * thread), second = wide_element(2 * thread + 1);
    output0[thread] = uint4(first.x, first.y, second.x, second.y);
    return;
  }
  const uint count = 16 / min(size, 4);
  uint4 result = uint4(0, 0, 0, 0);
  for (uint i = 0; i < count; ++i) put(result, i, element(thread * count + i), min(size, 4));
  output0[thread] = result;
}
