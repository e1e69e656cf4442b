// The element types of tensors (DML_TENSOR_DATA_TYPE) and their properties: the rows of
// shaders/data_types.def.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dmlop {

/// Values are those of DML_TENSOR_DATA_TYPE in DirectML.h.
enum class DataType : std::uint8_t {
#define DATA_TYPE(name, number, enumerator, ...) enumerator = number,
#include "../../shaders/data_types.def"
};

enum class NumberKind : std::uint8_t { floating, signed_integer, unsigned_integer };

struct DataTypeInfo {
  DataType type;
  std::string_view name;   // DirectML's name without DML_TENSOR_DATA_TYPE_
  std::string_view numpy;  // NumPy's type string without byte order: "f4"
  std::size_t size;        // per element in memory and files; UINT4 and INT4 take a whole byte
  std::size_t bits;        // of an element in a buffer of DirectML
  NumberKind kind;
  std::size_t fraction;  // bits below the exponent of a floating type
};

inline constexpr std::array data_types{
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) \
  DataTypeInfo{DataType::enumerator, #name, #numpy, size, bits, NumberKind::kind, fraction},
#include "../../shaders/data_types.def"
};

inline constexpr const DataTypeInfo& info(DataType type) {
  return data_types[static_cast<std::size_t>(type) - 1];
}
static_assert(std::ranges::all_of(data_types,
                                  [](const auto& row) { return &info(row.type) == &row; }),
              "the numbers of data types count from 1");

/// Bytes per element in memory and in files.
inline constexpr std::size_t size_of(DataType type) {
  return info(type).size;
}

inline constexpr std::string_view name_of(DataType type) {
  return info(type).name;
}

inline constexpr bool is_floating(DataType type) {
  return info(type).kind == NumberKind::floating;
}

inline constexpr bool is_signed_integer(DataType type) {
  return info(type).kind == NumberKind::signed_integer;
}

/// Whether the type is floating and FLOAT32 has all of its numbers.
inline constexpr bool is_within_float32(DataType type) {
  return is_floating(type) && info(type).bits <= info(DataType::Float32).bits;
}

/// The bits of infinity in a floating type.
inline constexpr std::uint64_t infinity_bits(DataType type) {
  return (std::uint64_t{1} << (info(type).bits - 1)) - (std::uint64_t{1} << info(type).fraction);
}

/// Whether a byte of a buffer of DirectML has two elements, as with UINT4 and INT4.
inline constexpr bool has_4_bits(DataType type) {
  return info(type).bits == 4;
}

/// The type that a .npy file stores for this one: UINT8 for UINT4, INT8 for INT4, otherwise the
/// same.
inline constexpr DataType stored_as(DataType type) {
  return std::ranges::find(data_types, info(type).numpy, &DataTypeInfo::numpy)->type;
}

/// The type of a short DirectML name ("FLOAT32"); nothing for other names.
inline constexpr std::optional<DataType> data_type_named(std::string_view name) {
  for (const DataTypeInfo& entry : data_types) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

}  // namespace dmlop
