// Numbers with twice the digits of a float, as sums of two.

// a + b, and what it loses by rounding.
float2 two_sum(float a, float b) {
  precise const float sum = a + b;
  precise const float of_b = sum - a;
  precise const float of_a = sum - of_b;
  precise const float rest = (a - of_a) + (b - of_b);
  return float2(sum, rest);
}

// The upper half of the digits, for magnitudes up to 2^115.
float upper_digits(float a) {
  precise const float scaled = a * 4097.0f;
  precise const float above = scaled - a;
  precise const float upper = scaled - above;
  return upper;
}

// a * b, and what it loses by rounding.
float2 two_product(float a, float b) {
  precise const float product = a * b;
  precise const float a_high = upper_digits(a), b_high = upper_digits(b);
  precise const float a_low = a - a_high, b_low = b - b_high;
  precise const float rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
  return float2(product, rest);
}

bool is_finite(float a) { return (asuint(a) & 0x7FFFFFFFu) < 0x7F800000u; }

// x 2^n for any n. Compilers must not multiply the powers first, because 2^n may be out of range.
float times_power(float x, int n) {
  const int bounded = clamp(n, -300, 300);
  const int quarter = bounded >> 2;
  const float power = power_of_two(quarter);
  precise const float once = x * power;
  precise const float twice = once * power;
  precise const float thrice = twice * power;
  precise const float result = thrice * power_of_two(bounded - 3 * quarter);
  return result;
}

// A quotient of pairs, to the last place of a float; an infinite or undefined one is that of the upper parts.
float pair_quotient(float2 a, float2 b) {
  const float quotient = a.x / b.x;
  const float2 product = two_product(quotient, b.x);
  precise const float rest = ((a.x - product.x) - product.y) + (a.y - quotient * b.y);
  precise const float corrected = quotient + rest / b.x;
  return is_finite(corrected) ? corrected : quotient;
}

float pair_root(float2 a) {
  const float root = sqrt(a.x);
  const float2 square = two_product(root, root);
  precise const float rest = ((a.x - square.x) - square.y) + a.y;
  precise const float corrected = root + rest / (2.0f * root);
  return root > 0.0f && is_finite(corrected) ? corrected : root;
}

// --- products of floats as four words: a number from 1 to 2 as a pair, an exponent, and the product of the factors 0,
// infinity and NaN

float2 pair_of(uint4 cell) { return float2(asfloat(cell.x), asfloat(cell.y)); }

uint4 product_cell(float2 factor, int exponent, float special) {
  return uint4(asuint(factor.x), asuint(factor.y), uint(exponent), asuint(special));
}

// Products of numbers from 1 to 2.
uint4 joined_products(uint4 a, uint4 b) {
  const float2 x = pair_of(a), y = pair_of(b);
  const float2 product = two_product(x.x, y.x);
  precise float low = product.y + (x.x * y.y + x.y * y.x);
  const float2 sum = two_sum(product.x, low);
  const int shift = int((asuint(sum.x) >> 23) & 0xFF) - 127;
  const int exponent = clamp(int(a.z) + int(b.z) + shift, -1000000000, 1000000000);
  return product_cell(sum * power_of_two(-shift), exponent, asfloat(a.w) * asfloat(b.w));
}

uint4 factor_cell(float factor) {
  const bool is_small = abs_of(factor) < 1.17549435e-38f;
  const float normal = is_small ? factor * 8388608.0f : factor;
  const uint bits = asuint(normal);
  const bool is_special = normal == 0.0f || !is_finite(factor);
  const float mantissa = asfloat((bits & 0x807FFFFFu) | 0x3F800000u);
  const int exponent = int((bits >> 23) & 0xFF) - 127 - (is_small ? 23 : 0);
  return is_special ? product_cell(float2(1.0f, 0.0f), 0, factor) : product_cell(float2(mantissa, 0.0f), exponent, 1.0f);
}

float product_of_cell(uint4 cell) {
  const float special = asfloat(cell.w), factor = asfloat(cell.x);
  return special == 1.0f ? times_power(factor, int(cell.z)) : factor < 0.0f ? -special : special;
}

// --- keys

// The bits of a number as an unsigned one of the same order; 0 for NaN.
uint key_of_real(float x) {
  const uint bits = asuint(x);
  return is_nan(x) ? 0 : (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
float real_of_key(uint key) { return asfloat((key & 0x80000000u) != 0 ? key & 0x7FFFFFFFu : ~key); }
