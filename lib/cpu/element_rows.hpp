// Elements of tensors as the numbers that kernels calculate with, and back.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "tensor/half.hpp"
#include "tensor/visit_type.hpp"

namespace dmlop::cpu {

/// The element at `from`, at any address; a half as a float.
template <typename Element>
auto number_at(const std::byte* from) {
  Element element;
  std::memcpy(&element, from, sizeof element);
  if constexpr (std::is_same_v<Element, Half>) {
    return half_to_float(element.bits);
  } else {
    return element;
  }
}

/// What number_at() gives.
template <typename Element>
using NumberOf = decltype(number_at<Element>(nullptr));

/// Writes a number as an element, rounded once. Integers truncate toward zero and saturate.
template <typename Element, typename Number>
void put_number(std::byte* to, Number number) {
  Element element;
  if constexpr (std::is_same_v<Element, Half>) {
    element.bits = half_from_double(static_cast<double>(number));
  } else if constexpr (std::is_integral_v<Element> && std::is_floating_point_v<Number>) {
    using Limits = std::numeric_limits<Element>;
    element = !(number > static_cast<Number>(Limits::min())) ? Limits::min()
              : number >= static_cast<Number>(Limits::max()) ? Limits::max()
                                                             : static_cast<Element>(number);
  } else {
    element = static_cast<Element>(number);
  }
  std::memcpy(to, &element, sizeof element);
}

/// Calls action with the C++ type of a FLOAT32 or FLOAT16.
template <typename Action>
decltype(auto) visit_float(DataType type, Action&& action) {
  return visit_type_among<DataType::Float32, DataType::Float16>(type, std::forward<Action>(action));
}

}  // namespace dmlop::cpu
