// Numbers with twice the digits of a float, as a sum of two of which the second is the smaller. Magnitudes beyond 2^100
// give NaN.
struct Pair {
  float high;
  float low;
};

Pair pair_of(float x) {
  Pair pair;
  pair.high = x;
  pair.low = 0.0f;
  return pair;
}

// The exact sum of two floats.
Pair exact_sum(float a, float b) {
  precise const float sum = a + b;
  precise const float added = sum - a;
  precise const float low = (a - (sum - added)) + (b - added);
  Pair pair;
  pair.high = sum;
  pair.low = low;
  return pair;
}

// The exact product of two floats.
Pair exact_product(float a, float b) {
  const float a_high = upper_half(a), b_high = upper_half(b);
  precise const float a_low = a - a_high;
  precise const float b_low = b - b_high;
  precise const float product = a * b;
  precise const float first = a_high * b_high;
  precise const float second = a_high * b_low;
  precise const float third = a_low * b_high;
  precise const float fourth = a_low * b_low;
  precise const float low = ((first - product) + second + third) + fourth;
  Pair pair;
  pair.high = product;
  pair.low = low;
  return pair;
}

Pair sum_of(Pair a, Pair b) {
  const Pair high = exact_sum(a.high, b.high);
  precise const float low = high.low + (a.low + b.low);
  return exact_sum(high.high, low);
}
Pair difference_of(Pair a, Pair b) {
  b.high = -b.high;
  b.low = -b.low;
  return sum_of(a, b);
}

Pair product_of(Pair a, Pair b) {
  const Pair high = exact_product(a.high, b.high);
  precise const float cross = a.high * b.low + a.low * b.high;
  precise const float low = high.low + cross;
  return exact_sum(high.high, low);
}

// A quotient, made exact by what is left: division by GPUs is not.
Pair quotient_of(Pair a, float b) {
  Pair quotient = pair_of(a.high / b);
  [unroll]
  for (uint i = 0; i < 2; ++i) {
    const Pair rest = difference_of(a, product_of(quotient, pair_of(b)));
    quotient = sum_of(quotient, pair_of(rest.high / b));
  }
  return quotient;
}

// How far a number lies above another one.
float above(Pair a, float b) {
  precise const float difference = a.high - b;
  precise const float result = difference + a.low;
  return result;
}

float floor_of_pair(Pair a) {
  const float low = floor(a.high);
  const float rest = above(a, low);
  return rest < 0.0f ? low - 1.0f : rest >= 1.0f ? low + 1.0f : low;
}
float ceiling_of_pair(Pair a) {
  const float low = floor_of_pair(a);
  return above(a, low) > 0.0f ? low + 1.0f : low;
}
