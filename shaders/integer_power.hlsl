// Powers of integers: the expression `pow_of_integers` of an ElementWiseKernel (lib/ops/kernels/element_wise.hpp). A
// thread computes the elements of 16 bytes of output. Inputs: the bases, the exponents.
#include "parameters/walk.hlsli"
#include "parameters/integer_power.hlsli"
#define PARAMETERS IntegerPowerParameters
#include "elements.hlsli"
#define WALK parameters[0].walk
#include "walk.hlsli"
#include "wide.hlsli"

#define LOOP [loop]
#define Wide uint2
uint2 wide(uint high, uint low) { return uint2(low, high); }
uint wide_high(uint2 a) { return a.y; }
uint wide_low(uint2 a) { return a.x; }
#include "integer_power.hlsli"

INTEGER_POWER_SPECIALIZATION(SPECIALIZED)

uint base_at(uint at) {
  uint bits = load_bits(1, at, size_of(TYPE));
  if (IS_SCALED != 0) bits = truncated_bits(real_of(bits, TYPE) * parameters[0].scale + parameters[0].bias, TYPE);
  return extended(element_of_word(bits, 0, size_of(TYPE)), TYPE);
}

PowerExponent exponent_at(uint at) {
  const uint bits = load_bits(2, at, size_of(EXPONENT_TYPE));
  PowerExponent exponent;
  if (is_floating(EXPONENT_TYPE)) {
    const uint word = asuint(real_of(bits, EXPONENT_TYPE));
    const uint field = (word >> 23) & 255, fraction = word & 0x7FFFFFu;
    exponent.mantissa = field == 0 ? fraction : fraction | 0x800000u;
    exponent.shift = int(max(field, 1u)) - 150;
    exponent.is_negative = (word >> 31) != 0;
    exponent.is_nan = field == 255 && fraction != 0;
    return exponent;
  }
  const uint whole = extended(bits, EXPONENT_TYPE);
  exponent.is_negative = is_signed(EXPONENT_TYPE) && int(whole) < 0;
  exponent.mantissa = exponent.is_negative ? 0 - whole : whole;
  exponent.shift = 0;
  exponent.is_nan = false;
  return exponent;
}

// As StoreMode `truncates` of expressions.def.
uint stored(IntegerPower power) {
  if (TYPE == UINT32 || TYPE == UINT16) return power.magnitude;
  uint most = 0x7FFFFFFFu;
  if (TYPE == UINT8) most = 0xFF;
  if (TYPE == INT8) most = 0x7F;
  return power.is_negative ? 0 - min(power.magnitude, most + 1) : min(power.magnitude, most);
}

void run(uint thread) {
  const uint size = size_of(TYPE), per_thread = 16 / size;
  uint at = thread * per_thread;
  uint4 result = uint4(0, 0, 0, 0);
  Place place = place_at(at);
  [loop]
  for (uint e = 0; e < per_thread; ++e) {
    const uint base = base_at(place.offsets.x);
    const bool is_negative = is_signed(TYPE) && int(base) < 0;
    const IntegerPower power =
        integer_power(is_negative ? 0 - base : base, is_negative, exponent_at(place.offsets.y));
    result = with_element(result, e, stored(power), size);
    advance(place, ++at, parameters[0].elements);
  }
  output0[thread] = result;
}
