// Numbers with twice the digits of a float, as sums of two, and integers of 64 bits as two words (low, high).

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

// x 2^n for any n.
float times_power(float x, int n) {
  const int bounded = clamp(n, -300, 300);
  const int quarter = bounded >> 2;
  const float power = power_of_two(quarter);
  return x * power * power * power * power_of_two(bounded - 3 * quarter);
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

uint2 sum64(uint2 a, uint2 b) {
  const uint low = a.x + b.x;
  return uint2(low, a.y + b.y + (low < a.x ? 1 : 0));
}

uint2 negative64(uint2 a) { return sum64(uint2(~a.x, ~a.y), uint2(1, 0)); }

// The 64 bits of a product of words.
uint2 wide_product(uint a, uint b) {
  const uint a_low = a & 0xFFFF, a_high = a >> 16, b_low = b & 0xFFFF, b_high = b >> 16;
  const uint low = a_low * b_low;
  const uint middle = a_high * b_low + (low >> 16);
  const uint other = a_low * b_high + (middle & 0xFFFF);
  return uint2((other << 16) | (low & 0xFFFF), a_high * b_high + (middle >> 16) + (other >> 16));
}

uint2 product64(uint2 a, uint2 b) {
  const uint2 low = wide_product(a.x, b.x);
  return uint2(low.x, low.y + a.x * b.y + a.y * b.x);
}

bool is_less64(uint2 a, uint2 b) { return a.y < b.y || (a.y == b.y && a.x < b.x); }
bool is_equal64(uint2 a, uint2 b) { return a.x == b.x && a.y == b.y; }

// The bits of a number as an unsigned one of the same order; 0 for NaN.
uint key_of_real(float x) {
  const uint bits = asuint(x);
  return is_nan(x) ? 0 : (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}
float real_of_key(uint key) { return asfloat((key & 0x80000000u) != 0 ? key & 0x7FFFFFFFu : ~key); }
