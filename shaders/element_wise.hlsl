// output[i] = expression(inputs[0][i], inputs[1][i], ...): ElementWiseKernel (lib/ops/kernels/element_wise.hpp) for rows
// of expressions.def. A thread computes the elements of 16 bytes of output.
//
// Variants: EXPRESSION_GROUP, a section of expressions.def; NUMBER, the type that it computes with, float, int or
// uint; and COMPUTES_FLOAT, COMPUTES_INT or COMPUTES_UINT accordingly.
#include "parameters/element_wise.hlsli"
#define PARAMETERS ElementWiseParameters
#include "resident.hlsli"
#include "functions.hlsli"

SPECIALIZED(0, EXPRESSION_NUMBER)  // in its group
SPECIALIZED(1, NUMBER_CLASS)       // enum NumberClass
SPECIALIZED(2, STORE_MODE)         // enum StoreMode
SPECIALIZED(3, OUTPUT_TYPE)
SPECIALIZED(4, IS_LINEAR)   // each input stands as the output does, or has one element
SPECIALIZED(5, IS_SCALED)   // the first input
SPECIALIZED(6, INPUT_COUNT)
// The types of inputs; 0 for a constant, and with IS_REPEATED for one element.
SPECIALIZED(7, TYPE_0)
SPECIALIZED(8, TYPE_1)
SPECIALIZED(9, TYPE_2)
SPECIALIZED(10, TYPE_3)
SPECIALIZED(11, TYPE_4)
SPECIALIZED(12, TYPE_5)
SPECIALIZED(13, TYPE_6)
SPECIALIZED(14, TYPE_7)
#define IS_REPEATED 32

#define CLASS_BITS 3
#define CLASS_TRUTH 4
#define STORES_ABS8 1
#define STORES_ROUNDED 2

#define T NUMBER

#define EXPRESSION_NOTHING(expression)
#define EXPRESSION_SOMETHING(expression) \
  if (EXPRESSION_NUMBER == at) result = expression;
#ifdef COMPUTES_FLOAT
#define EXPRESSION_real EXPRESSION_SOMETHING
#define EXPRESSION_number EXPRESSION_SOMETHING
#define EXPRESSION_bits EXPRESSION_NOTHING
#define EXPRESSION_truth EXPRESSION_NOTHING
#define PARAMETER(i) parameters[0].reals[i]
#else
#define EXPRESSION_real EXPRESSION_NOTHING
#define EXPRESSION_number EXPRESSION_SOMETHING
#ifdef COMPUTES_UINT
#define EXPRESSION_bits EXPRESSION_SOMETHING
#define EXPRESSION_truth EXPRESSION_SOMETHING
#else
#define EXPRESSION_bits EXPRESSION_NOTHING
#define EXPRESSION_truth EXPRESSION_NOTHING
#endif
#define PARAMETER(i) T(parameters[0].integers[i])
#endif
#define EXPRESSION_wide EXPRESSION_NOTHING  // doubles

T computed(T a, T b, T c, T d, T e, T f, T g, T h) {
  const T p0 = PARAMETER(0), p1 = PARAMETER(1), p2 = PARAMETER(2), p3 = PARAMETER(3);
  T result = T(0);
  uint at = 0;
#define EXPRESSION(name, inputs, number_class, store, expression) \
  EXPRESSION_##number_class(expression) ++at;
#include "expressions.def"
#undef EXPRESSION
  return result;
}

// An element of an input as a number.
T number_of(uint bits, uint type, uint input) {
#ifdef COMPUTES_FLOAT
  const float value = real_of(bits, type);
  return input == 0 && IS_SCALED != 0 ? value * parameters[0].scale + parameters[0].bias : value;
#else
  if (NUMBER_CLASS == CLASS_BITS) return T(bits);
  if (NUMBER_CLASS == CLASS_TRUTH) return T(bits != 0 ? 1 : 0);
  if (input == 0 && IS_SCALED != 0)
    bits = bits_of_real(real_of(bits, type) * parameters[0].scale + parameters[0].bias, type);
  return T(extended(bits, type));
#endif
}

// A number as an element.
uint bits_of_number(T value) {
#ifdef COMPUTES_FLOAT
  if (OUTPUT_TYPE == FLOAT32) return asuint(value);
  if (OUTPUT_TYPE == FLOAT16) return half_bits(value);
  const bool is_rounded = STORE_MODE == STORES_ROUNDED || size_of(OUTPUT_TYPE) == 1 && OUTPUT_TYPE >= UINT4;
  return saturated(is_rounded ? nearest_even(value) : trunc(value), OUTPUT_TYPE);
#else
  if (NUMBER_CLASS != CLASS_BITS) {
    if (OUTPUT_TYPE == FLOAT32) return asuint(float(value));
    if (OUTPUT_TYPE == FLOAT16) return half_bits(float(value));
  }
#ifdef COMPUTES_INT
  if (STORE_MODE == STORES_ABS8 && OUTPUT_TYPE == INT8) return uint(min(value, 127));
#endif
  return uint(value);
#endif
}

// Where the inputs of an output element stand.
struct Place {
  uint inner;      // index along the innermost axis
  uint offsets[8];
};

Place place_at(uint at) {
  Place place;
  [unroll]
  for (uint i = 0; i < 8; ++i) place.offsets[i] = 0;
  place.inner = 0;
  const uint rank = parameters[0].rank;
  for (uint step = 0; step < rank; ++step) {
    const uint a = rank - 1 - step;
    const uint next = at / parameters[0].extents[a];
    const uint index = at - next * parameters[0].extents[a];
    at = next;
    if (step == 0) place.inner = index;
    [unroll]
    for (uint k = 0; k < 8; ++k) {
      if (k < INPUT_COUNT) place.offsets[k] += index * parameters[0].strides[8 * k + a];
    }
  }
  return place;
}

T loaded(uint input, uint type, uint offset) {
  if (input >= INPUT_COUNT) return T(0);
  if (type == 0) return T(parameters[0].constants[input]);
  const uint plain = type & (IS_REPEATED - 1);
  return number_of(load_bits(input + 1, offset, size_of(plain)), plain, input);
}

uint result_at(Place place) {
  return bits_of_number(computed(loaded(0, TYPE_0, place.offsets[0]), loaded(1, TYPE_1, place.offsets[1]),
                                 loaded(2, TYPE_2, place.offsets[2]), loaded(3, TYPE_3, place.offsets[3]),
                                 loaded(4, TYPE_4, place.offsets[4]), loaded(5, TYPE_5, place.offsets[5]),
                                 loaded(6, TYPE_6, place.offsets[6]), loaded(7, TYPE_7, place.offsets[7])));
}

uint linear_result(uint at) {
#define OFFSET(type) ((type) < IS_REPEATED ? at : 0)
  return bits_of_number(computed(loaded(0, TYPE_0, OFFSET(TYPE_0)), loaded(1, TYPE_1, OFFSET(TYPE_1)),
                                 loaded(2, TYPE_2, OFFSET(TYPE_2)), loaded(3, TYPE_3, OFFSET(TYPE_3)),
                                 loaded(4, TYPE_4, OFFSET(TYPE_4)), loaded(5, TYPE_5, OFFSET(TYPE_5)),
                                 loaded(6, TYPE_6, OFFSET(TYPE_6)), loaded(7, TYPE_7, OFFSET(TYPE_7))));
}

// The next element, which is the first one behind the last.
void advance(inout Place place, uint at) {
  const uint last = parameters[0].rank - 1;
  if (place.inner + 1 < parameters[0].extents[last]) {
    ++place.inner;
    [unroll]
    for (uint k = 0; k < 8; ++k) {
      if (k < INPUT_COUNT) place.offsets[k] += parameters[0].strides[8 * k + last];
    }
  } else {
    place = place_at(at < parameters[0].elements ? at : 0);
  }
}

void run(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_word = 4 / size;
  uint at = thread * 4 * per_word;
  uint4 result = uint4(0, 0, 0, 0);
  if (IS_LINEAR != 0) {
    [unroll]
    for (uint w = 0; w < 4; ++w) {
      uint word = 0;
      for (uint part = 0; part < per_word; ++part)
        word |= placed(linear_result(min(at++, parameters[0].elements - 1)), part, size);
      result = with_word(result, w, word);
    }
  } else {
    Place place = place_at(at);
    [loop]
    for (uint w = 0; w < 4; ++w) {
      uint word = 0;
      for (uint part = 0; part < per_word; ++part) {
        word |= placed(result_at(place), part, size);
        advance(place, ++at);
      }
      result = with_word(result, w, word);
    }
  }
  output0[thread] = result;
}
