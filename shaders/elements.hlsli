// Shared by the kernels that compute with elements of any type: their bits, numbers and places in words. bindings.hlsli
// says how such a kernel is bound.
#include "bindings.hlsli"

#define FUNCTION precise
#define HAS_BRANCHES  // unlike vectors of a CPU
#include "elementary.hlsli"
#include "angles.hlsli"

// --- data types

#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) static const uint name = number;
#include "data_types.def"

// The types that have a property, as bits of a word.
#define KIND_floating 1
#define KIND_signed_integer 2
#define KIND_unsigned_integer 3
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) | (KIND_##kind == KIND_floating ? 1u << number : 0)
static const uint floating_types = 0
#include "data_types.def"
  ;
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) | (KIND_##kind == KIND_signed_integer ? 1u << number : 0)
static const uint signed_types = 0
#include "data_types.def"
  ;
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) | (bits == 4 ? 1u << number : 0)
static const uint types_of_4_bits = 0
#include "data_types.def"
  ;

// The bytes of elements in memory, as digits of hexadecimal numbers: of types 0 to 7, and of 8 to 15.
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) | (number / 8 == 0 ? uint(size) << 4 * (number % 8) : 0)
static const uint first_sizes = 1  // kernels divide by the size of an input that is not there
#include "data_types.def"
  ;
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) | (number / 8 == 1 ? uint(size) << 4 * (number % 8) : 0)
static const uint second_sizes = 0
#include "data_types.def"
  ;

bool is_among(uint type, uint types) { return (1u << type & types) != 0; }
bool is_floating(uint type) { return is_among(type, floating_types); }
bool is_signed(uint type) { return is_among(type, signed_types); }

// Bytes of an element; 1 of type 0, which is none.
uint size_of(uint type) { return (type < 8 ? first_sizes : second_sizes) >> 4 * (type & 7) & 15; }

// Bits of an element in a buffer of DirectML.
uint bits_of(uint type) { return is_among(type, types_of_4_bits) ? 4 : 8 * size_of(type); }

// Bits of a floating type below its exponent.
#define FRACTION_floating(name, fraction) type == name ? fraction :
#define FRACTION_signed_integer(name, fraction)
#define FRACTION_unsigned_integer(name, fraction)
uint fraction_of(uint type) {
  return
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) FRACTION_##kind(name, fraction)
#include "data_types.def"
    0;
}

// --- elements

// Element `at` of 1, 2 or 4 bytes of a word that holds it.
uint element_of_word(uint word, uint at, uint size) {
  if (size == 4) return word;
  if (size == 2) return (word >> ((at & 1) * 16)) & 0xFFFF;
  return (word >> ((at & 3) * 8)) & 0xFF;
}

// Element `at` of 1, 2 or 4 bytes of a vector.
uint element_of_vector(uint4 vector_, uint at, uint size) {
  const uint w = at * size >> 2;
  return element_of_word(w == 0 ? vector_.x : w == 1 ? vector_.y : w == 2 ? vector_.z : vector_.w, at, size);
}

#ifdef LOADS_VECTORS
// For a thread that has 16 bytes of an output, and an input whose elements stand as those of the output but may be of
// another size: what holds the input's elements for word w of the thread, where element_of_vector finds them at
// element_in_vector. `last` is the last element of both.
uint4 vector_for_word(uint input, uint thread, uint w, uint size, uint output_size, uint last) {
  if (size == output_size) return load_vector(input, thread);
  // Behind the last element there may be no more vectors; a word is there.
  if (size > output_size) return load_vector(input, min((4 * thread + w) * (size / output_size) >> 2, last * size >> 4));
  return uint4(load_word(input, (4 * thread + w) / (output_size / size)), 0, 0, 0);
}
uint element_in_vector(uint at, uint size, uint output_size) {
  return at & ((size >= output_size ? 16 : 4) / size - 1);
}
#endif

// The bits of an element of 1, 2 or 4 bytes.
uint load_bits(uint input, uint at, uint size) {
  const uint word = size == 4 ? at : size == 2 ? at >> 1 : at >> 2;
  return element_of_word(load_word(input, word), at, size);
}

// The bits of an element of 8 bytes.
uint2 load_bits64(uint input, uint at) { return uint2(load_word(input, 2 * at), load_word(input, 2 * at + 1)); }

// The value of an integer of at most 32 bits with its sign, as its bits.
uint extended(uint bits, uint type) {
  const uint unused = (32 - 8 * size_of(type)) & 31;
  return is_signed(type) ? uint(int(bits << unused) >> unused) : bits;
}

// The nearest float. Some drivers round an integer of 32 bits without a sign twice, but not one of 31 bits; what that
// loses cannot reach a half alone.
float real_of_word(uint a) { return (a >> 31) == 0 ? float(int(a)) : float(int(a >> 1 | (a & 1))) * 2.0f; }

// An element of at most 32 bits as a number. Each floating type has a line.
#define REAL_OF_FLOAT32 if (type == FLOAT32) return asfloat(bits);
#define REAL_OF_FLOAT16 if (type == FLOAT16) return f16tof32(bits);
#define REAL_OF_FLOAT64  // of 64 bits
#define REAL_OF_floating(name) REAL_OF_##name
#define REAL_OF_signed_integer(name)
#define REAL_OF_unsigned_integer(name)
float real_of(uint bits, uint type) {
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) REAL_OF_##kind(name)
#include "data_types.def"
  return is_signed(type) ? float(int(extended(bits, type))) : size_of(type) == 4 ? real_of_word(bits) : float(int(bits));
}
float load_real(uint input, uint at, uint type) { return real_of(load_bits(input, at, size_of(type)), type); }

FUNCTION float nearest_even(float x) {
  // Numbers from 2^23 on are whole; smaller ones plus 2^23 are rounded.
  const float rounded = (magnitude_of(x) + 8388608.0f) - 8388608.0f;
  return magnitude_of(x) < 8388608.0f ? with_sign_of(rounded, x) : x;
}

#include "half_bits.hlsli"

// The limits of an integer of fewer than 32 bits.
float lowest_of(uint type) { return is_signed(type) ? -float(1u << (bits_of(type) - 1)) : 0.0f; }
float highest_of(uint type) { return float((1u << (bits_of(type) - (is_signed(type) ? 1 : 0))) - 1); }

// A whole number as an integer between two limits, as its bits; NaN is 0.
uint saturated(float whole, uint type) {
  if (is_nan(whole)) return 0;
  if (bits_of(type) < 32) return uint(int(clamp(whole, lowest_of(type), highest_of(type))));
  if (is_signed(type))
    return whole >= 2147483648.0f ? 0x7FFFFFFFu : whole <= -2147483648.0f ? 0x80000000u : uint(int(whole));
  return whole >= 4294967296.0f ? 0xFFFFFFFFu : whole <= 0.0f ? 0 : uint(whole);
}

// A number as an integer of at most 16 bits: the nearest one, ties to even, between two limits, as its bits; NaN is 0.
FUNCTION uint saturated_nearest(float x, uint type) {
  return is_nan(x) ? 0 : uint(integer_in(clamp(x, lowest_of(type), highest_of(type)) + rounder()));
}

// The bits of a number as an element of at most 32 bits; integers are truncated and saturated.
#define BITS_OF_FLOAT32 if (type == FLOAT32) return asuint(x);
#define BITS_OF_FLOAT16 if (type == FLOAT16) return half_bits(x);
#define BITS_OF_FLOAT64  // of 64 bits
#define BITS_OF_floating(name) BITS_OF_##name
#define BITS_OF_signed_integer(name)
#define BITS_OF_unsigned_integer(name)
uint bits_of_real(float x, uint type) {
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) BITS_OF_##kind(name)
#include "data_types.def"
  return saturated(trunc(x), type);
}

// A float as an element, truncated: 16 bits are the low ones of a saturated 32-bit integer of the same kind.
uint truncated_bits(float x, uint type) {
  if (is_floating(type) || bits_of(type) != 16) return bits_of_real(x, type);
  return bits_of_real(x, is_signed(type) ? INT32 : UINT32);
}

// Element `part` of 1, 2 or 4 bytes at its place in a word.
uint placed(uint bits, uint part, uint size) {
  if (size == 4) return bits;
  if (size == 2) return (bits & 0xFFFF) << (part * 16);
  return (bits & 0xFF) << (part * 8);
}

uint4 with_word(uint4 vector_, uint w, uint word) {
  return uint4(w == 0 ? word : vector_.x, w == 1 ? word : vector_.y, w == 2 ? word : vector_.z, w == 3 ? word : vector_.w);
}

// Adds element `at` of 1, 2 or 4 bytes to a vector that has zeros there.
uint4 with_element(uint4 vector_, uint at, uint bits, uint size) {
  const uint w = at * size >> 2;
  return vector_ | with_word(uint4(0, 0, 0, 0), w, placed(bits, at - w * (4 / size), size));
}
