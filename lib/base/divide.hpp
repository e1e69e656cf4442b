// Quotients that are rounded up.
#pragma once

#include <concepts>
#include <type_traits>

namespace dmlop {

/// The least integer that is not below a / b, for b > 0.
template <std::integral T>
constexpr T divided_up(T a, std::type_identity_t<T> b) {
  return static_cast<T>(a / b + (a % b > 0 ? 1 : 0));
}

}  // namespace dmlop
