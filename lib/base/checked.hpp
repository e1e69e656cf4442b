// Integer arithmetic that returns nothing instead of overflowing.
#pragma once

#include <concepts>
#include <limits>
#include <optional>

namespace dmlop {

template <std::integral T>
constexpr std::optional<T> checked_add(T a, T b) {
  using Limits = std::numeric_limits<T>;
  if (b > 0 ? a > Limits::max() - b : a < Limits::min() - b) return std::nullopt;
  return static_cast<T>(a + b);
}

template <std::integral T>
constexpr std::optional<T> checked_subtract(T a, T b) {
  using Limits = std::numeric_limits<T>;
  if (b > 0 ? a < Limits::min() + b : a > Limits::max() + b) return std::nullopt;
  return static_cast<T>(a - b);
}

template <std::integral T>
constexpr std::optional<T> checked_multiply(T a, T b) {
  using Limits = std::numeric_limits<T>;
  if (a == 0 || b == 0) return T{0};
  if (std::signed_integral<T>) {
    const bool is_positive = (a > 0) == (b > 0);
    // The bounds of b come from a division that cannot overflow, because a is neither 0 nor -1
    // here.
    if (a == T(-1)) return checked_subtract(T{0}, b);
    if (b == T(-1)) return checked_subtract(T{0}, a);
    const T limit = static_cast<T>((is_positive ? Limits::max() : Limits::min()) / a);
    const bool fits = b > 0 ? b <= limit : b >= limit;
    return fits ? std::optional(static_cast<T>(a * b)) : std::nullopt;
  }
  return b <= Limits::max() / a ? std::optional(static_cast<T>(a * b)) : std::nullopt;
}

}  // namespace dmlop
