// Shared by the kernels that compute with elements of any type: their bits, numbers and places in words. bindings.hlsli
// says how such a kernel is bound.
#include "bindings.hlsli"

#define FUNCTION precise
#define HAS_BRANCHES  // unlike vectors of a CPU
#include "elementary.hlsli"
#include "angles.hlsli"

// --- elements

// DataType (lib/tensor/data_type.hpp).
#define FLOAT32 1
#define FLOAT16 2
#define UINT32 3
#define UINT16 4
#define UINT8 5
#define INT32 6
#define INT16 7
#define INT8 8
#define FLOAT64 9
#define UINT64 10
#define INT64 11
#define UINT4 12
#define INT4 13

uint size_of(uint type) {
  return type == FLOAT64 || type == UINT64 || type == INT64       ? 8
         : type == FLOAT32 || type == UINT32 || type == INT32     ? 4
         : type == FLOAT16 || type == UINT16 || type == INT16     ? 2
                                                                  : 1;
}

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
  if (type == INT8 || type == INT4) return uint(int(bits << 24) >> 24);
  if (type == INT16) return uint(int(bits << 16) >> 16);
  return bits;
}

// An element of at most 32 bits as a number.
float real_of(uint bits, uint type) {
  if (type == FLOAT32) return asfloat(bits);
  if (type == FLOAT16) return f16tof32(bits);
  if (type == UINT32 || type == UINT16 || type == UINT8 || type == UINT4) return float(bits);
  return float(int(extended(bits, type)));
}
float load_real(uint input, uint at, uint type) { return real_of(load_bits(input, at, size_of(type)), type); }

FUNCTION float nearest_even(float x) {
  // Numbers from 2^23 on are whole; smaller ones plus 2^23 are rounded.
  const float rounded = (magnitude_of(x) + 8388608.0f) - 8388608.0f;
  return magnitude_of(x) < 8388608.0f ? with_sign_of(rounded, x) : x;
}

#include "half_bits.hlsli"

// A whole number as an integer between two limits, as its bits; NaN is 0.
uint saturated(float whole, uint type) {
  if (is_nan(whole)) return 0;
  if (type == UINT32) return whole >= 4294967296.0f ? 0xFFFFFFFFu : whole <= 0.0f ? 0 : uint(whole);
  if (type == INT32)
    return whole >= 2147483648.0f ? 0x7FFFFFFFu : whole <= -2147483648.0f ? 0x80000000u : uint(int(whole));
  float low = 0.0f, high = 255.0f;
  if (type == UINT16) high = 65535.0f;
  if (type == INT16) { low = -32768.0f; high = 32767.0f; }
  if (type == INT8) { low = -128.0f; high = 127.0f; }
  if (type == UINT4) high = 15.0f;
  if (type == INT4) { low = -8.0f; high = 7.0f; }
  return uint(int(clamp(whole, low, high)));
}

// A number as an integer of at most 16 bits: the nearest one, ties to even, between two limits, as its bits; NaN is 0.
FUNCTION uint saturated_nearest(float x, uint type) {
  const float low = type == INT8 ? -128.0f : type == INT16 ? -32768.0f : type == INT4 ? -8.0f : 0.0f;
  const float high = type == INT8    ? 127.0f
                     : type == UINT8 ? 255.0f
                     : type == INT16 ? 32767.0f
                     : type == INT4  ? 7.0f
                     : type == UINT4 ? 15.0f
                                     : 65535.0f;
  return is_nan(x) ? 0 : uint(integer_in(clamp(x, low, high) + rounder()));
}

// The bits of a number as an element; integers are truncated and saturated.
uint bits_of_real(float x, uint type) {
  if (type == FLOAT32) return asuint(x);
  if (type == FLOAT16) return half_bits(x);
  return saturated(trunc(x), type);
}

// A float as an element, truncated: 16 bits are the low ones of a saturated 32-bit integer.
uint truncated_bits(float x, uint type) {
  return bits_of_real(x, type == UINT16 || type == INT16 ? INT32 : type);
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
