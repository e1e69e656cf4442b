// What the files of this folder share: how a dispatch over whole tensors is filled.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "base/divide.hpp"
#include "gpu/device.hpp"
#include "tensor/data_type.hpp"

namespace dmlop::gpu::kernels {

/// As HLSL calls it, for the structs in shaders/parameters/.
using uint = std::uint32_t;
struct uint4 {
  uint x, y, z, w;
};

/// A thread owns so many bytes of an output.
inline constexpr std::uint64_t bytes_per_thread = 16;

/// A number that a kernel's arithmetic has no room for: no GPU runs it (gpu/dispatch.cpp).
struct NumberTooLarge : std::logic_error {
  NumberTooLarge() : std::logic_error("a kernel's number does not fit 32 bits") {}
};

/// A number of a kernel, whose arithmetic has 32 bits. Errors: NumberTooLarge.
constexpr uint word(std::uint64_t value) {
  if (value > 0xFFFFFFFF) throw NumberTooLarge();
  return static_cast<uint>(value);
}

static_assert(data_types.size() < 16, "size_of() in elements.hlsli has room for so many types");

/// A floating type that a kernel's shader has no code for: no GPU runs it (gpu/dispatch.cpp).
struct UnknownFloat : std::logic_error {
  UnknownFloat() : std::logic_error("a floating type that a kernel has no code for") {}
};

/// Whether shaders have code of their own for a floating type, as those that take its vectors do.
constexpr bool is_known_float(DataType type) {
  return type == DataType::Float32 || type == DataType::Float16;
}

/// FLOAT16, where a kernel is for that and for FLOAT32. Errors: UnknownFloat for other types.
constexpr bool is_float16(DataType type) {
  if (!is_known_float(type)) throw UnknownFloat();
  return type == DataType::Float16;
}

/// The number of a type in shaders. Where these take elements by the functions of elements.hlsli
/// alone, it may be any type.
constexpr uint any_type(DataType type) {
  return static_cast<uint>(type);
}

/// The same where shaders have code of their own for floating types. Errors: UnknownFloat.
constexpr uint known_type(DataType type) {
  if (is_floating(type) && !is_known_float(type)) throw UnknownFloat();
  return any_type(type);
}

/// The low 32 bits of a number that may be negative: it wraps, as sums in a kernel do.
inline uint wrapped(std::int64_t value) {
  return static_cast<uint>(value);
}

/// The low 32 bits of a stride that may be of an axis with one index, which it does not move.
inline uint low_word(std::uint64_t value) {
  return static_cast<uint>(value);
}

/// The words of a struct of shaders/parameters/.
template <typename Struct>
std::vector<std::uint32_t> words_of(const Struct& numbers) {
  static_assert(std::is_trivially_copyable_v<Struct> && sizeof(Struct) % 4 == 0);
  std::vector<std::uint32_t> words(sizeof(Struct) / 4);
  std::memcpy(words.data(), &numbers, sizeof(Struct));
  return words;
}

/// Those of a list of such structs.
template <typename Struct>
std::vector<std::uint32_t> words_of(const std::vector<Struct>& list) {
  static_assert(std::is_trivially_copyable_v<Struct> && sizeof(Struct) % 4 == 0);
  std::vector<std::uint32_t> words(list.size() * sizeof(Struct) / 4);
  std::memcpy(words.data(), list.data(), words.size() * 4);
  return words;
}

/// The value of a specialization constant: a number, a condition or an enumerator. It has no
/// default, so that the compiler finds those that are forgotten. Of a data type, any_type() and
/// known_type() say whether the shader knows all of them.
struct SpecializationValue {
  template <typename T>
  requires(std::is_unsigned_v<T> ||
           (std::is_enum_v<T> &&
            !std::is_same_v<T, DataType>)) constexpr SpecializationValue(T value)
      : number(word(static_cast<std::uint64_t>(value))) {}
  uint number;
};

/// A struct of a kernel's specialization constants, which both sides know by the same names: LIST
/// is that of shaders/parameters/, in the order of its numbers.
#define DMLOP_SPECIALIZATION(Struct, LIST) \
  struct Struct {                          \
    LIST(DMLOP_SPECIALIZATION_FIELD)       \
  };                                       \
  static_assert(are_counted<sizeof(Struct) / 4>({LIST(DMLOP_SPECIALIZATION_NUMBER)}));
#define DMLOP_SPECIALIZATION_FIELD(number, name) SpecializationValue name;
#define DMLOP_SPECIALIZATION_NUMBER(number, name) number,

/// Whether these are the numbers from 0 on.
template <std::size_t count>
constexpr bool are_counted(const std::array<std::size_t, count>& numbers) {
  for (std::size_t i = 0; i < count; ++i) {
    if (numbers[i] != i) return false;
  }
  return true;
}

template <typename Specialization>
void set_specialization(Dispatch& dispatch, const Specialization& values) {
  dispatch.specialization = words_of(values);
}

/// Gives the dispatch its struct of parameters, or a list of them, or its struct of constants.
template <typename Parameters>
void set_parameters(Dispatch& dispatch, const Parameters& parameters) {
  dispatch.parameters = words_of(parameters);
}
template <typename Constants>
void set_constants(Dispatch& dispatch, const Constants& constants) {
  static_assert(sizeof(Constants) <= constants_most * 4);
  dispatch.constants = words_of(constants);
}

}  // namespace dmlop::gpu::kernels
