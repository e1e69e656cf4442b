// Relations of single elements that relation.cpp tries out: what an actual element is in terms of
// the expected one at the same place.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "compare/element_pair.hpp"
#include "tensor/element.hpp"

namespace dmlop::element {

/// Finite numbers that are compared as doubles are exact up to here.
inline constexpr double exact_max = 0x1p53;

/// The distance of 1 to the next number; 0 for integers.
template <typename T>
constexpr double epsilon() {
  if constexpr (std::is_same_v<T, Half>) {
    return 0x1p-10;
  } else {
    return static_cast<double>(std::numeric_limits<T>::epsilon());
  }
}

template <typename T>
struct ElementPair {
  T actual, expected;
};

template <typename T>
struct ElementRelation {
  std::string text;
  std::uint64_t least = 1;     // elements that must differ, or it may hold by chance
  bool needs_variety = false;  // expected elements must be different where they differ
  std::function<bool(T actual, T expected)> holds;
  bool needs_finite = false;  // one actual element must be finite: all may be too large otherwise
};

template <typename T>
bool is_zero(T value) {
  return value_of(value) == 0;
}

template <typename T>
T negative(T value) {
  if constexpr (std::is_same_v<T, Half>) {
    return {static_cast<std::uint16_t>(value.bits ^ 0x8000U)};
  } else if constexpr (std::is_floating_point_v<T>) {
    return -value;
  } else {
    return static_cast<T>(0 - static_cast<std::uint64_t>(value));
  }
}

template <typename T>
T with_bytes_swapped(T value) {
  auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(value);
  std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<T>(bytes);
}

/// The nearest FLOAT16 and BFLOAT16.
inline double as_half(double value) {
  return half_to_float(half_from_double(value));
}
inline double as_bfloat(double value) {
  const auto single = static_cast<float>(value);
  if (!std::isfinite(single)) return single;
  const auto bits = std::bit_cast<std::uint32_t>(single);
  const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
  return std::bit_cast<float>(rounded & 0xFFFF0000U);
}

/// Whether `actual` is `value` but for a few roundings of numbers as large as `magnitude`, while
/// `expected` is clearly another number. Integers must be exact.
template <typename T>
bool is_computed(T actual, T expected, double value, double magnitude) {
  const double a = value_of(actual), e = value_of(expected);
  if constexpr (!is_floating<T>) {
    return a == value && std::abs(a) < exact_max && std::abs(e) < exact_max;
  } else {
    const double rounding = 4 * epsilon<T>() * std::max(magnitude, std::abs(a));
    return std::abs(a - value) <= rounding && std::abs(a - e) > 4 * rounding;
  }
}

// The same value, of which only the bits differ.
template <typename T>
void add_same_values(std::vector<ElementRelation<T>>& list) {
  list.push_back({"actual is 0 with the other sign where it differs", 1, false,
                  [](T a, T e) { return is_zero(a) && is_zero(e); }});
  list.push_back({"actual is NaN with other bits where it differs", 1, false,
                  [](T a, T e) { return is_nan(a) && is_nan(e); }});
}

template <typename T>
void add_constants(std::vector<ElementRelation<T>>& list, DataType type, T first) {
  list.push_back({"actual is 0 where it differs", 1, false, [](T a, T) { return is_zero(a); }});
  if (is_zero(first)) return;
  list.push_back({"actual is NaN where it differs", 1, false, [](T a, T) { return is_nan(a); }});
  if (is_nan(first)) return;
  const auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(first);
  std::array<std::byte, 8> element{};
  std::copy(bytes.begin(), bytes.end(), element.begin());
  list.push_back({"actual is " + element_text(type, element.data()) + " where it differs", 4, true,
                  [first](T a, T) { return is_same_value(a, first); }});
}

template <typename T>
void add_roundings(std::vector<ElementRelation<T>>& list) {
  const auto add = [&](const std::string& type, double (*round)(double)) {
    list.push_back({"actual is expected rounded to " + type + " where it differs", 1, false,
                    [round](T a, T e) { return value_of(a) == round(value_of(e)); }, true});
  };
  if constexpr (std::is_same_v<T, double>)
    add("FLOAT32", [](double value) -> double { return static_cast<float>(value); });
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, float>) {
    add("FLOAT16", as_half);
    add("BFLOAT16", as_bfloat);
  }
}

// The factor is that of the largest expected element, the term that of the smallest: there they
// lose least to rounding.
template <typename T>
void add_factor_and_term(std::vector<ElementRelation<T>>& list,
                         const std::vector<ElementPair<T>>& some) {
  const auto magnitude = [](const ElementPair<T>& pair) {
    return std::max(std::abs(value_of(pair.actual)), std::abs(value_of(pair.expected)));
  };
  const ElementPair<T>*largest = nullptr, *smallest = nullptr;
  for (const ElementPair<T>& pair : some) {
    if (!std::isfinite(magnitude(pair))) return;
    const double e = std::abs(value_of(pair.expected));
    if (e != 0 && (largest == nullptr || e > std::abs(value_of(largest->expected))))
      largest = &pair;
    if (smallest == nullptr || magnitude(pair) < magnitude(*smallest)) smallest = &pair;
  }
  if (largest == nullptr) return;
  const double factor = value_of(largest->actual) / value_of(largest->expected);
  list.push_back({"actual is expected times " + rounded(factor) + " where it differs", 3, true,
                  [factor](T a, T e) {
                    const double product = value_of(e) * factor;
                    return is_computed(a, e, product, std::abs(product));
                  }});
  const double term = value_of(smallest->actual) - value_of(smallest->expected);
  const std::string sign = term < 0 ? " - " : " + ";
  list.push_back({"actual is expected" + sign + rounded(std::abs(term)) + " where it differs", 3,
                  true, [term](T a, T e) {
                    return is_computed(a, e, value_of(e) + term,
                                       std::max(std::abs(value_of(e)), std::abs(term)));
                  }});
}

template <typename T>
void add_negative(std::vector<ElementRelation<T>>& list, const Tolerance& tolerance) {
  ElementRelation<T>& relation = list.emplace_back();
  relation.text = "actual is the negative of expected where it differs";
  relation.holds = [&tolerance](T a, T e) { return passes(tolerance, a, negative(e)); };
}

template <typename T>
void add_reversed_bytes(std::vector<ElementRelation<T>>& list) {
  ElementRelation<T>& relation = list.emplace_back();
  relation.text = "actual is expected with its bytes in reverse order where it differs";
  relation.least = 2;
  relation.needs_variety = true;
  relation.holds = [](T a, T e) {
    return std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(with_bytes_swapped(e));
  };
}

/// What is tried, the plainest first. `some` are elements that differ, at least one. `tolerance`
/// must outlive the list.
template <typename T>
std::vector<ElementRelation<T>> element_relations(DataType type, const Tolerance& tolerance,
                                                  const std::vector<ElementPair<T>>& some) {
  std::vector<ElementRelation<T>> list;
  if constexpr (is_floating<T>) add_same_values(list);
  add_constants<T>(list, type, some.front().actual);
  if constexpr (!std::is_unsigned_v<T>) add_negative(list, tolerance);
  if constexpr (sizeof(T) > 1) add_reversed_bytes(list);
  add_roundings(list);
  add_factor_and_term(list, some);
  return list;
}

}  // namespace dmlop::element
