// Small text helpers shared by messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

/// Levenshtein distance, in bytes, ignoring ASCII case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, or "" when none is near enough to be a likely misspelling.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// "a, b, c".
template <typename Range>
std::string join(const Range& parts, std::string_view separator = ", ") {
  std::string text;
  for (const auto& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

/// "[1, 2, 3]".
template <typename Range>
std::string list_of(const Range& numbers) {
  std::string text = "[";
  for (const auto number : numbers) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(number);
  }
  return text + "]";
}

}  // namespace dmlop
