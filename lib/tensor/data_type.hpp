// The element types of tensors (DML_TENSOR_DATA_TYPE) and their properties.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dmlop {

/// Values are those of DML_TENSOR_DATA_TYPE in DirectML.h.
enum class DataType : std::uint8_t {
  Float32 = 1,
  Float16 = 2,
  UInt32 = 3,
  UInt16 = 4,
  UInt8 = 5,
  Int32 = 6,
  Int16 = 7,
  Int8 = 8,
  Float64 = 9,
  UInt64 = 10,
  Int64 = 11,
  UInt4 = 12,
  Int4 = 13,
};

enum class NumberKind : std::uint8_t { floating, signed_integer, unsigned_integer };

struct DataTypeInfo {
  DataType type;
  std::string_view name;   // DirectML's name without DML_TENSOR_DATA_TYPE_
  std::string_view numpy;  // NumPy's type string without byte order: "f4"
  std::size_t size;        // per element in memory and files; UINT4 and INT4 take a whole byte
  std::size_t bits;        // of an element in a buffer of DirectML
  NumberKind kind;
};

inline constexpr std::array<DataTypeInfo, 13> data_types{{
    {DataType::Float32, "FLOAT32", "f4", 4, 32, NumberKind::floating},
    {DataType::Float16, "FLOAT16", "f2", 2, 16, NumberKind::floating},
    {DataType::UInt32, "UINT32", "u4", 4, 32, NumberKind::unsigned_integer},
    {DataType::UInt16, "UINT16", "u2", 2, 16, NumberKind::unsigned_integer},
    {DataType::UInt8, "UINT8", "u1", 1, 8, NumberKind::unsigned_integer},
    {DataType::Int32, "INT32", "i4", 4, 32, NumberKind::signed_integer},
    {DataType::Int16, "INT16", "i2", 2, 16, NumberKind::signed_integer},
    {DataType::Int8, "INT8", "i1", 1, 8, NumberKind::signed_integer},
    {DataType::Float64, "FLOAT64", "f8", 8, 64, NumberKind::floating},
    {DataType::UInt64, "UINT64", "u8", 8, 64, NumberKind::unsigned_integer},
    {DataType::Int64, "INT64", "i8", 8, 64, NumberKind::signed_integer},
    {DataType::UInt4, "UINT4", "u1", 1, 4, NumberKind::unsigned_integer},
    {DataType::Int4, "INT4", "i1", 1, 4, NumberKind::signed_integer},
}};

inline constexpr const DataTypeInfo& info(DataType type) {
  return data_types[static_cast<std::size_t>(type) - 1];
}

/// Bytes per element in memory and in files.
inline constexpr std::size_t size_of(DataType type) {
  return info(type).size;
}

inline constexpr std::string_view name_of(DataType type) {
  return info(type).name;
}

/// The type that a .npy file stores for this one: UINT8 for UINT4, INT8 for INT4, otherwise the
/// same.
inline constexpr DataType stored_as(DataType type) {
  if (type == DataType::UInt4) return DataType::UInt8;
  return type == DataType::Int4 ? DataType::Int8 : type;
}

/// The type of a short DirectML name ("FLOAT32"); nothing for other names.
inline constexpr std::optional<DataType> data_type_named(std::string_view name) {
  for (const DataTypeInfo& entry : data_types) {
    if (entry.name == name) return entry.type;
  }
  return std::nullopt;
}

}  // namespace dmlop
