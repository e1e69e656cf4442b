// Turns a data type at run time into a C++ type at compile time.
#pragma once

#include <cstdint>
#include <utility>

#include "tensor/data_type.hpp"

namespace dmlop {

/// The bits of a FLOAT16.
struct Half {
  std::uint16_t bits = 0;
};

/// Calls `action` with a value of the C++ type for `type`. FLOAT16 is Half; UINT4 and INT4 are one
/// byte per element.
template <typename Action>
decltype(auto) visit_type(DataType type, Action&& action) {
  switch (type) {
    case DataType::Float32:
      return action(float{});
    case DataType::Float16:
      return action(Half{});
    case DataType::UInt32:
      return action(std::uint32_t{});
    case DataType::UInt16:
      return action(std::uint16_t{});
    case DataType::UInt8:
    case DataType::UInt4:
      return action(std::uint8_t{});
    case DataType::Int32:
      return action(std::int32_t{});
    case DataType::Int16:
      return action(std::int16_t{});
    case DataType::Int8:
    case DataType::Int4:
      return action(std::int8_t{});
    case DataType::Float64:
      return action(double{});
    case DataType::UInt64:
      return action(std::uint64_t{});
    case DataType::Int64:
      break;
  }
  return action(std::int64_t{});
}

}  // namespace dmlop
