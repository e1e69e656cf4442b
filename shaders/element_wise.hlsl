// output[i] = expression(inputs[0][i], inputs[1][i], ...): ElementWiseKernel (lib/ops/kernels/element_wise.hpp) for rows
// of expressions.def. A thread computes the elements of 16 bytes of output.
//
// Variants: EXPRESSION_GROUP, a section of expressions.def; NUMBER, the type that it computes with, float, int, uint,
// and int2 or uint2 for integers of 64 bits; and COMPUTES_FLOAT, COMPUTES_INT, COMPUTES_UINT, COMPUTES_INT2 or
// COMPUTES_UINT2 accordingly.
#include "parameters/element_wise.hlsli"
#define PARAMETERS ElementWiseParameters
#define LOADS_VECTORS
#include "elements.hlsli"

ELEMENT_WISE_SPECIALIZATION(SPECIALIZED)

#define IS_OF_HALVES (OUTPUT_TYPE == FLOAT16 && (TYPE_0 & (IS_REPEATED - 1)) == FLOAT16 && IS_SCALED == 0)
#include "functions.hlsli"

// How the elements of a thread lie: anyhow; in one row of the innermost axis; along the only axis.

#define CLASS_BITS 3
#define CLASS_TRUTH 4
#define STORES_ABS8 1
#define STORES_ROUNDED 2

#define T NUMBER
#if defined(COMPUTES_INT2) || defined(COMPUTES_UINT2)
#define COMPUTES_64_BITS
#define Bits uint2  // of an element
#else
#define Bits uint
#endif

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
#if defined(COMPUTES_UINT) || defined(COMPUTES_UINT2)
#define EXPRESSION_bits EXPRESSION_SOMETHING
#else
#define EXPRESSION_bits EXPRESSION_NOTHING
#endif
#ifdef COMPUTES_UINT
#define EXPRESSION_truth EXPRESSION_SOMETHING
#else
#define EXPRESSION_truth EXPRESSION_NOTHING
#endif
#ifdef COMPUTES_64_BITS
#define PARAMETER(i) T(uint2(parameters[0].integers[2 * i], parameters[0].integers[2 * i + 1]))
#else
#define PARAMETER(i) T(parameters[0].integers[2 * i])
#endif
#endif
#define EXPRESSION_wide EXPRESSION_NOTHING  // doubles

T computed(T a, T b, T c, T d, T e, T f, T g, T h) {
  const T p0 = PARAMETER(0), p1 = PARAMETER(1), p2 = PARAMETER(2), p3 = PARAMETER(3);
  T result = zero_of(a);
  uint at = 0;
#define EXPRESSION(name, inputs, number_class, store, expression) \
  EXPRESSION_##number_class(expression) ++at;
#include "expressions.def"
#undef EXPRESSION
  return result;
}

// An element of an input as a number.
T number_of(Bits bits, uint type, uint input) {
#ifdef COMPUTES_64_BITS
  if (NUMBER_CLASS == CLASS_BITS || size_of(type) == 8) return T(bits);
  const uint low = extended(bits.x, type);
  const bool is_negative = is_signed(type) && int(low) < 0;
  return T(uint2(low, is_negative ? 0xFFFFFFFFu : 0));
#elif defined(COMPUTES_FLOAT)
  const float value = real_of(bits, type);
  return input == 0 && IS_SCALED != 0 ? value * parameters[0].scale + parameters[0].bias : value;
#else
  if (NUMBER_CLASS == CLASS_BITS) return T(bits);
  if (NUMBER_CLASS == CLASS_TRUTH) return T(bits != 0 ? 1 : 0);
  if (input == 0 && IS_SCALED != 0)
    bits = truncated_bits(real_of(bits, type) * parameters[0].scale + parameters[0].bias, type);
  return T(extended(element_of_word(bits, 0, size_of(type)), type));
#endif
}

// A number as an element.
Bits bits_of_number(T value) {
#ifdef COMPUTES_64_BITS
  return uint2(value);
#elif defined(COMPUTES_FLOAT)
  if (is_floating(OUTPUT_TYPE)) return bits_of_real(value, OUTPUT_TYPE);
  const bool is_rounded = STORE_MODE == STORES_ROUNDED || bits_of(OUTPUT_TYPE) < 8;
  if (!is_rounded) return truncated_bits(value, OUTPUT_TYPE);
  return size_of(OUTPUT_TYPE) < 4 ? saturated_nearest(value, OUTPUT_TYPE) : saturated(nearest_even(value), OUTPUT_TYPE);
#else
  if (NUMBER_CLASS != CLASS_BITS && is_floating(OUTPUT_TYPE)) return bits_of_real(float(value), OUTPUT_TYPE);
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
  uint4 vectors[3];  // where inputs have IS_VECTOR
  uint element;      // of the thread
};

Place place_at(uint at) {
  Place place;
  [unroll]
  for (uint i = 0; i < 8; ++i) place.offsets[i] = 0;
  place.inner = place.element = 0;
  place.vectors[0] = place.vectors[1] = place.vectors[2] = uint4(0, 0, 0, 0);
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

T loaded(uint input, uint type, Place place) {
  const uint plain = type & (IS_REPEATED - 1);
  const uint offset = place.offsets[input];
#ifdef COMPUTES_64_BITS
  if (input >= INPUT_COUNT) return T(uint2(0, 0));
  if (size_of(plain) == 8) return number_of(load_bits64(input + 1, offset), plain, input);
  return number_of(uint2(load_bits(input + 1, offset, size_of(plain)), 0), plain, input);
#else
  if (input >= INPUT_COUNT) return T(0);
  if (type == 0) return T(parameters[0].constants[input]);
  if ((type & IS_VECTOR) != 0) {
    const uint4 vector_ = input == 0 ? place.vectors[0] : input == 1 ? place.vectors[1] : place.vectors[2];
    const uint at = element_in_vector(place.element, size_of(plain), size_of(OUTPUT_TYPE));
#ifdef COMPUTES_FLOAT
    if (plain == FLOAT16) {  // f16tof32 takes the lower half of a word
      const uint word = element_of_vector(vector_, at >> 1, 4);
      return number_of((at & 1) != 0 ? word >> 16 : word, plain, input);
    }
#endif
    return number_of(element_of_vector(vector_, at, size_of(plain)), plain, input);
  }
  return number_of(load_bits(input + 1, offset, size_of(plain)), plain, input);
#endif
}

Bits result_at(Place place) {
  return bits_of_number(computed(loaded(0, TYPE_0, place), loaded(1, TYPE_1, place), loaded(2, TYPE_2, place),
                                 loaded(3, TYPE_3, place), loaded(4, TYPE_4, place), loaded(5, TYPE_5, place),
                                 loaded(6, TYPE_6, place), loaded(7, TYPE_7, place)));
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

uint step_of(uint input, uint type) {
  if ((type & IS_REPEATED) != 0) return 0;
  return (type & IS_STRIDED) != 0 ? parameters[0].strides[8 * input + parameters[0].rank - 1] : 1;
}

// `e` elements behind the first one.
Place place_in_row(Place first, uint e) {
  Place place = first;
  place.offsets[0] += e * step_of(0, TYPE_0);
  place.offsets[1] += e * step_of(1, TYPE_1);
  place.offsets[2] += e * step_of(2, TYPE_2);
  place.offsets[3] += e * step_of(3, TYPE_3);
  place.offsets[4] += e * step_of(4, TYPE_4);
  place.offsets[5] += e * step_of(5, TYPE_5);
  place.offsets[6] += e * step_of(6, TYPE_6);
  place.offsets[7] += e * step_of(7, TYPE_7);
  return place;
}

// The place of a thread's first element.
Place first_place(uint at) {
  if (LAYOUT != LAYOUT_LINE) return place_at(at);
  Place start;
  start.inner = start.element = 0;
  start.vectors[0] = start.vectors[1] = start.vectors[2] = uint4(0, 0, 0, 0);
  [unroll]
  for (uint k = 0; k < 8; ++k) start.offsets[k] = 0;
  return place_in_row(start, at);
}

#ifdef COMPUTES_64_BITS
// Elements of 8 bytes, and those of 1 byte that a comparison writes.
void run(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_thread = 16 / size;
  uint at = thread * per_thread;
  uint4 result = uint4(0, 0, 0, 0);
  Place place = place_at(at);
  for (uint e = 0; e < per_thread; ++e) {
    const uint2 element = result_at(place);
    if (size == 8) {
      result = e == 0 ? uint4(element, 0, 0) : uint4(result.xy, element);
    } else {
      result = with_element(result, e, element.x, size);
    }
    advance(place, ++at);
  }
  output0[thread] = result;
}
#else
// What holds an input's elements for a word of the thread.
uint4 vector_of(uint input, uint type, uint thread, uint w) {
  if ((type & IS_VECTOR) == 0) return uint4(0, 0, 0, 0);
  const uint size = size_of(type & (IS_REPEATED - 1));
  return vector_for_word(input + 1, thread, w, size, size_of(OUTPUT_TYPE), parameters[0].elements - 1);
}

void run(uint thread) {
  const uint size = size_of(OUTPUT_TYPE);
  const uint per_word = 4 / size;
  uint at = thread * 4 * per_word;
  uint4 result = uint4(0, 0, 0, 0);
  if (LAYOUT != 0) {
    Place first = first_place(at);
    const uint last = parameters[0].elements - 1 - at;  // of the thread's elements, in a line
    [unroll]
    for (uint w = 0; w < 4; ++w) {
      uint word = 0;
      first.vectors[0] = vector_of(0, TYPE_0, thread, w);
      first.vectors[1] = vector_of(1, TYPE_1, thread, w);
      first.vectors[2] = vector_of(2, TYPE_2, thread, w);
      for (uint part = 0; part < per_word; ++part) {
        const uint e = w * per_word + part;
        Place place = place_in_row(first, LAYOUT == LAYOUT_LINE ? min(e, last) : e);
        place.element = e;
        const uint bits = result_at(place);
#ifdef COMPUTES_FLOAT
        word |= OUTPUT_TYPE == FLOAT16 ? bits << (16 * part) : placed(bits, part, size);  // half_bits has 16
#else
        word |= placed(bits, part, size);
#endif
      }
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
#endif
