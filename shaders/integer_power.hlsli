// Powers of integers, in the language that HLSL and C++ share. They consist of integers alone, so the CPU and all GPUs
// give the same bits. A power is rounded to 53 digits, as a double is, and truncated toward zero.
//
// LOOP stands before loops that need not be unrolled. C++ defines it, FUNCTION, uint, and Wide, an unsigned integer of
// 64 bits, with the functions that HLSL has for it: wide, wide_high, wide_low, wide_product and wide_sum.

// (-1)^is_negative * mantissa * 2^shift.
struct PowerExponent {
  uint mantissa;
  int shift;
  bool is_negative;
  bool is_nan;
};

// A magnitude beyond 32 bits is the largest.
struct IntegerPower {
  uint magnitude;
  bool is_negative;
};

// The upper half of a product.
FUNCTION Wide upper_product(Wide a, Wide b) {
  const Wide low = wide_product(wide_low(a), wide_low(b));
  const Wide middle = wide_sum(wide_product(wide_low(a), wide_high(b)), wide(0, wide_high(low)));
  const Wide other = wide_sum(wide_product(wide_high(a), wide_low(b)), wide(0, wide_low(middle)));
  return wide_sum(wide_sum(wide_product(wide_high(a), wide_high(b)), wide(0, wide_high(middle))),
                  wide(0, wide_high(other)));
}

// log2(x / 2^63) * 2^64 for x from 2^63 on. A digit is 1 where the square of what is left is at least 2.
FUNCTION Wide log2_of(Wide x) {
  Wide result = wide(0, 0);
  LOOP for (uint digit = 0; digit < 64; ++digit) {
    x = upper_product(x, x);
    const bool is_set = wide_high(x) >= 0x80000000u;
    if (!is_set) x = wide_sum(x, x);
    result = wide_sum(wide_sum(result, result), wide(0, is_set ? 1 : 0));
  }
  return result;
}

FUNCTION Wide next_term(Wide sum, Wide t, uint high, uint low) {
  return wide_sum(wide(high, low), upper_product(sum, t));
}

// 2^(x / 2^64) * 2^63: the series of e^t.
FUNCTION Wide exp2_of(Wide x) {
  const Wide t = upper_product(x, wide(0xB17217F7u, 0xD1CF79ACu));  // ln 2
  Wide sum = wide(0x00000000u, 0x00000098u);  // 1 / 19!
  sum = next_term(sum, t, 0x00000000u, 0x00000B41u);  // 1 / 18!
  sum = next_term(sum, t, 0x00000000u, 0x0000CA96u);  // 1 / 17!
  sum = next_term(sum, t, 0x00000000u, 0x000D73FAu);  // 1 / 16!
  sum = next_term(sum, t, 0x00000000u, 0x00D73F9Fu);  // 1 / 15!
  sum = next_term(sum, t, 0x00000000u, 0x0C9CBA54u);  // 1 / 14!
  sum = next_term(sum, t, 0x00000000u, 0xB092309Du);  // 1 / 13!
  sum = next_term(sum, t, 0x00000008u, 0xF76C77FCu);  // 1 / 12!
  sum = next_term(sum, t, 0x0000006Bu, 0x99159FD5u);  // 1 / 11!
  sum = next_term(sum, t, 0x0000049Fu, 0x93EDDE28u);  // 1 / 10!
  sum = next_term(sum, t, 0x00002E3Bu, 0xC74AAD8Eu);  // 1 / 9!
  sum = next_term(sum, t, 0x0001A01Au, 0x01A01A02u);  // 1 / 8!
  sum = next_term(sum, t, 0x000D00D0u, 0x0D00D00Du);  // 1 / 7!
  sum = next_term(sum, t, 0x005B05B0u, 0x5B05B05Bu);  // 1 / 6!
  sum = next_term(sum, t, 0x02222222u, 0x22222222u);  // 1 / 5!
  sum = next_term(sum, t, 0x0AAAAAAAu, 0xAAAAAAABu);  // 1 / 4!
  sum = next_term(sum, t, 0x2AAAAAAAu, 0xAAAAAAABu);  // 1 / 3!
  sum = next_term(sum, t, 0x80000000u, 0x00000000u);  // 1 / 2!
  const Wide less_one = wide_sum(t, upper_product(t, upper_product(sum, t)));
  const uint low = (wide_low(less_one) >> 1) | (wide_high(less_one) << 31);
  return wide((wide_high(less_one) >> 1) | 0x80000000u, low);
}

// The magnitude of a power whose base is at least 2 and whose exponent is a whole number.
FUNCTION uint whole_power(uint base, uint mantissa, uint shift) {
  const uint most = 32;  // 2^32 is too large
  const uint exponent = shift > 5 || mantissa > most ? most : mantissa << shift;
  uint result = 1;
  LOOP for (uint i = 0; i < exponent && i < most; ++i) {
    const Wide next = wide_product(result, base);
    result = wide_high(next) != 0 ? 0xFFFFFFFFu : wide_low(next);
  }
  return result;
}

// The same with an exponent of mantissa / 2^digits, which is no whole number: 2^(exponent * log2(base)).
FUNCTION uint fractional_power(uint base, uint mantissa, uint digits, bool is_inverse) {
  uint top = 31, normal = base;  // the place of the highest bit, and the base shifted so that it is 31
  LOOP while (normal < 0x80000000u) {
    normal <<= 1;
    --top;
  }
  const Wide logarithm = log2_of(wide(normal, 0));
  const Wide low = wide_product(mantissa, wide_low(logarithm));
  const Wide high = wide_sum(wide_product(mantissa, wide_high(logarithm)), wide(0, wide_high(low)));
  // A number of three words, the first of which is whole.
  uint whole = wide_high(high) + mantissa * top, upper = wide_low(high), lower = wide_low(low);
  LOOP for (; digits >= 32 && (whole | upper | lower) != 0; digits -= 32) {
    lower = upper;
    upper = whole;
    whole = 0;
  }
  if (digits > 0 && digits < 32) {
    lower = (lower >> digits) | (upper << (32 - digits));
    upper = (upper >> digits) | (whole << (32 - digits));
    whole >>= digits;
  }
  // 1 - 2^-54, which is rounded to 1.
  if (is_inverse) return whole == 0 && upper == 0 && lower <= 1477 ? 1 : 0;
  if (whole >= 32) return 0xFFFFFFFFu;
  const Wide rounded = wide_sum(exp2_of(wide(upper, lower)), wide(0, 1024));
  const bool carries = wide_high(rounded) < 0x80000000u;
  if (carries) return whole == 31 ? 0xFFFFFFFFu : 2u << whole;
  return wide_high(rounded) >> (31 - whole);
}

// (-1)^is_negative * base to the power. What C's pow gives as NaN is 0, and infinity the largest magnitude.
FUNCTION IntegerPower integer_power(uint base, bool is_negative, PowerExponent exponent) {
  IntegerPower power;
  power.magnitude = 1;
  power.is_negative = false;
  if (exponent.is_nan) {
    power.magnitude = base == 1 && !is_negative ? 1 : 0;
    return power;
  }
  if (exponent.mantissa == 0) return power;
  uint mantissa = exponent.mantissa;
  int shift = exponent.shift;
  LOOP while ((mantissa & 1) == 0) {
    mantissa >>= 1;
    ++shift;
  }
  if (is_negative && shift < 0) {
    power.magnitude = 0;
    return power;
  }
  power.is_negative = is_negative && shift == 0;
  if (base == 0) power.magnitude = exponent.is_negative ? 0xFFFFFFFFu : 0;
  if (base < 2) return power;
  if (shift < 0) {
    power.magnitude = fractional_power(base, mantissa, uint(-shift), exponent.is_negative);
  } else {
    power.magnitude = exponent.is_negative ? 0 : whole_power(base, mantissa, uint(shift));
  }
  return power;
}
