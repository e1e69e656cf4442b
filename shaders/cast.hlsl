// Casts (DML_OPERATOR_CAST) between all types: the expression `cast` of an ElementWiseKernel. A thread computes the
// elements of 16 bytes of output. The rules stand in cast_of (lib/cpu/element_wise.cpp).
#include "parameters/cast.hlsli"
#define PARAMETERS CastParameters
#define LOADS_VECTORS
#include "elements.hlsli"

CAST_SPECIALIZATION(SPECIALIZED)

// Integers of 64 bits: x low, y high.
uint2 negated(uint2 a) { return uint2(0 - a.x, ~a.y + (a.x == 0 ? 1 : 0)); }
uint2 shifted_left(uint2 a, uint n) {
  if (n == 0) return a;
  if (n >= 64) return uint2(0, 0);
  if (n >= 32) return uint2(0, a.x << (n - 32));
  return uint2(a.x << n, (a.y << n) | (a.x >> (32 - n)));
}
uint2 shifted_right(uint2 a, uint n) {
  if (n == 0) return a;
  if (n >= 64) return uint2(0, 0);
  if (n >= 32) return uint2(a.y >> (n - 32), 0);
  return uint2((a.x >> n) | (a.y << (32 - n)), a.y >> n);
}
uint2 plus_one(uint2 a) { return uint2(a.x + 1, a.y + (a.x == 0xFFFFFFFFu ? 1 : 0)); }
// The place of the highest bit that is set, from 1 on; 0 for 0.
uint bit_width(uint2 a) { return a.y != 0 ? 33 + firstbithigh(a.y) : a.x != 0 ? 1 + firstbithigh(a.x) : 0; }

// A number: magnitude * 2^exponent, with a sign.
struct Number {
  bool is_negative;
  bool is_nan;
  bool is_infinite;
  uint2 magnitude;
  int exponent;
};

// How a float type is laid out below its sign.
uint exponent_bits(uint type) { return bits_of(type) - 1 - fraction_of(type); }
uint largest_exponent(uint type) { return (1u << exponent_bits(type)) - 1; }

Number number_of_float(uint2 bits, uint type) {
  const uint mantissa = fraction_of(type), most = largest_exponent(type);
  const uint biased = shifted_right(bits, mantissa).x & most;
  const uint2 fraction = bits & shifted_right(uint2(0xFFFFFFFFu, 0xFFFFFFFFu), 64 - mantissa);
  const bool has_fraction = (fraction.x | fraction.y) != 0;
  Number number;
  number.is_negative = (shifted_right(bits, mantissa + exponent_bits(type)).x & 1) != 0;
  number.is_nan = biased == most && has_fraction;
  number.is_infinite = biased == most && !has_fraction;
  number.magnitude = fraction | shifted_left(uint2(biased == 0 ? 0 : 1, 0), mantissa);
  number.exponent = int(biased == 0 ? 1 : biased) - int(most >> 1) - int(mantissa);
  return number;
}

Number number_of_integer(uint2 bits, bool is_negative) {
  Number number;
  number.is_negative = is_negative;
  number.is_nan = false;
  number.is_infinite = false;
  number.magnitude = is_negative ? negated(bits) : bits;
  number.exponent = 0;
  return number;
}

// An integer of any type as 64 bits with its sign.
uint2 integer_of(uint2 bits, uint type) {
  if (size_of(type) == 8) return bits;
  const uint low = extended(bits.x, type);
  return uint2(low, is_signed(type) && int(low) < 0 ? 0xFFFFFFFFu : 0);
}

Number number_of(uint2 bits, uint type) {
  if (is_floating(type)) return number_of_float(bits, type);
  const uint2 integer = integer_of(bits, type);
  return number_of_integer(integer, is_signed(type) && int(integer.y) < 0);
}

// The nearest float, ties to even.
uint2 float_of(Number number, uint type) {
  const uint mantissa = fraction_of(type), most = largest_exponent(type);
  const uint2 infinite = shifted_left(uint2(most, 0), mantissa);
  const int bias = int(most >> 1);
  // The exponent of the last bit that the result keeps, and how many bits it loses.
  const int width = int(bit_width(number.magnitude));
  const int last = max(number.exponent + width - int(mantissa) - 1, 1 - bias - int(mantissa));
  const int cut = last - number.exponent;
  const uint n = uint(clamp(cut, 0, 65));
  uint2 kept = cut < 0 ? shifted_left(number.magnitude, uint(-cut)) : shifted_right(number.magnitude, n);
  const uint2 rest = number.magnitude & ~shifted_left(uint2(0xFFFFFFFFu, 0xFFFFFFFFu), n);
  const uint2 half_way = shifted_left(uint2(1, 0), n - 1);
  const bool is_above = rest.y > half_way.y || (rest.y == half_way.y && rest.x > half_way.x);
  const bool is_half = rest.x == half_way.x && rest.y == half_way.y;
  if (n != 0 && n <= 64 && (is_above || (is_half && (kept.x & 1) != 0))) kept = plus_one(kept);
  // A hidden bit adds 1 to the exponent's field, and so does a carry beyond it.
  const int field = last + int(mantissa) + bias - 1;
  const uint2 base = shifted_left(uint2(uint(clamp(field, 0, int(most))), 0), mantissa);
  const uint low = base.x + kept.x;
  uint2 bits = uint2(low, base.y + kept.y + (low < base.x ? 1 : 0));
  if (bits.y > infinite.y || (bits.y == infinite.y && bits.x > infinite.x)) bits = infinite;
  if (width == 0) bits = uint2(0, 0);
  if (number.is_infinite) bits = infinite;
  if (number.is_nan) bits = infinite | shifted_left(uint2(1, 0), mantissa - 1);
  return bits | shifted_left(uint2(number.is_negative ? 1 : 0, 0), mantissa + exponent_bits(type));
}

// The float truncated to an integer of `width` bits and saturated; NaN is 0.
uint2 saturated_integer(Number number, uint width, bool has_sign) {
  if (number.is_nan) return uint2(0, 0);
  const int top = int(bit_width(number.magnitude)) + number.exponent;  // the magnitude is below 2^top
  const uint bits = has_sign ? width - 1 : width;
  const uint2 largest = shifted_right(uint2(0xFFFFFFFFu, 0xFFFFFFFFu), 64 - bits);
  const bool is_large = number.is_infinite || top > int(bits);
  if (number.is_negative && !has_sign) return uint2(0, 0);
  if (is_large) return number.is_negative ? plus_one(largest) : largest;
  const uint2 whole = number.exponent >= 0 ? shifted_left(number.magnitude, uint(number.exponent))
                                           : shifted_right(number.magnitude, uint(-number.exponent));
  return number.is_negative ? negated(whole) : whole;
}

// Integers keep their low bits, but those of 8 bits are saturated from the low 32, and a negative INT8 is the largest
// UINT16.
uint2 integer_cast(uint2 integer) {
  if (TO == UINT8) return uint2(min(integer.x, 255), 0);
  if (TO == INT8) return uint2(uint(clamp(int(integer.x), -128, 127)), 0);
  if (TO == UINT16 && FROM == INT8 && int(integer.x) < 0) return uint2(0xFFFF, 0);
  return integer;
}

uint2 cast_of(uint2 bits) {
  if (FROM == TO) return bits;
  if (!is_floating(FROM) && !is_floating(TO)) return integer_cast(integer_of(bits, FROM));
  const bool is_narrow = size_of(FROM) <= 4 && size_of(TO) <= 4;
  const bool is_exact = is_floating(FROM) || size_of(FROM) <= 2;  // as a FLOAT32
  if (is_narrow && is_exact) return uint2(bits_of_real(real_of(bits.x, FROM), TO), 0);
  const Number number = number_of(bits, FROM);
  if (is_floating(TO)) return float_of(number, TO);
  return saturated_integer(number, size_of(TO) * 8, is_signed(TO));
}

uint offset_of(uint at) {
  if (IS_LINEAR != 0) return at;
  uint offset = 0;
  for (uint step = 0; step < parameters[0].rank; ++step) {
    const uint a = parameters[0].rank - 1 - step;
    const uint next = at / parameters[0].extents[a];
    offset += (at - next * parameters[0].extents[a]) * parameters[0].strides[a];
    at = next;
  }
  return offset;
}

uint2 cast_at(uint at) {
  const uint offset = offset_of(min(at, parameters[0].elements - 1));
  const bool is_wide = size_of(FROM) == 8;
  const uint word = is_wide ? 2 * offset : offset * size_of(FROM) / 4;
  const uint low = load_word(1, word);
  return cast_of(is_wide ? uint2(low, load_word(1, word + (is_wide ? 1 : 0)))
                         : uint2(element_of_word(low, offset, size_of(FROM)), 0));
}

// Elements that stand as those of the output do, all of at most 4 bytes.
uint4 vector_cast(uint thread) {
  const uint size = size_of(TO), per_word = 4 / size;
  uint4 result = uint4(0, 0, 0, 0);
  [unroll]
  for (uint w = 0; w < 4; ++w) {
    const uint4 elements = vector_for_word(1, thread, w, size_of(FROM), size, parameters[0].elements - 1);
    uint word = 0;
    for (uint part = 0; part < per_word; ++part) {
      const uint at = element_in_vector(w * per_word + part, size_of(FROM), size);
      word |= placed(cast_of(uint2(element_of_vector(elements, at, size_of(FROM)), 0)).x, part, size);
    }
    result = with_word(result, w, word);
  }
  return result;
}

void run(uint thread) {
  const uint size = size_of(TO);
  if (IS_LINEAR != 0 && size <= 4 && size_of(FROM) <= 4) {
    output0[thread] = vector_cast(thread);
    return;
  }
  const uint per_thread = 16 / size;
  uint4 result = uint4(0, 0, 0, 0);
  for (uint e = 0; e < per_thread; ++e) {
    const uint2 element = cast_at(thread * per_thread + e);
    if (size == 8) {
      result = e == 0 ? uint4(element, 0, 0) : uint4(result.xy, element);
    } else {
      result = with_element(result, e, element.x, size);
    }
  }
  output0[thread] = result;
}
