// Turns a data type at run time into a C++ type at compile time.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "tensor/data_type.hpp"

namespace dmlop {

/// The bits of a FLOAT16. No number becomes one without a conversion.
struct Half {
  Half() = default;
  template <std::same_as<std::uint16_t> Bits>
  constexpr Half(Bits of_half) : bits(of_half) {}

  std::uint16_t bits = 0;
};

template <DataType type>
struct ElementType;
#define DATA_TYPE(name, number, enumerator, numpy, size, bits, kind, fraction, element) \
  template <>                                                                           \
  struct ElementType<DataType::enumerator> {                                            \
    using Element = element;                                                            \
    static_assert(sizeof(Element) == (size));                                           \
  };
#include "../../shaders/data_types.def"

/// What a data type is in memory: `element` of shaders/data_types.def.
template <DataType type>
using ElementOf = typename ElementType<type>::Element;

[[noreturn]] inline void refuse_unknown(DataType type) {
  throw std::logic_error("a kernel that does not know " + std::string(name_of(type)));
}

/// Calls `action` with a value of the C++ type for `type`.
template <typename Action>
decltype(auto) visit_type(DataType type, Action&& action) {
  switch (type) {
#define DATA_TYPE(name, number, enumerator, ...) \
  case DataType::enumerator:                     \
    return action(ElementOf<DataType::enumerator>{});
#include "../../shaders/data_types.def"
  }
  refuse_unknown(type);
}

/// The same where `type` can only be one of these. Errors: std::logic_error if it is not.
template <DataType first, DataType... others, typename Action>
decltype(auto) visit_type_among(DataType type, Action&& action) {
  if (type == first) return action(ElementOf<first>{});
  if constexpr (sizeof...(others) > 0)
    return visit_type_among<others...>(type, std::forward<Action>(action));
  else
    refuse_unknown(type);
}

}  // namespace dmlop
