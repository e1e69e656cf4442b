// Small text helpers shared by messages.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

/// The Levenshtein distance in bytes, ignoring ASCII case.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name`, or "" if none is near enough to be a likely misspelling.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// The text with ASCII letters in lower case.
std::string lower_case(std::string text);

/// The text with ASCII letters in upper case.
std::string upper_case(std::string text);

/// The text without any of `ends` at its two ends.
std::string_view trimmed(std::string_view text, std::string_view ends);

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

/// A number for people: four significant digits.
std::string rounded(double number);

/// Whether the whole `text` matches a shell pattern: * stands for any text, ? for one character,
/// [abc], [a-z] and [!a] for one of a set. A bracket that is not closed stands for itself.
bool matches_pattern(std::string_view text, std::string_view pattern);

/// The pattern that matches only `text`.
std::string literal_pattern(std::string_view text);

/// The word as a POSIX shell reads it, quoted if necessary.
std::string shell_quoted(std::string_view text);

/// "1 value", "2 values".
std::string counted(std::uint64_t count, std::string_view noun);

/// The number of Unicode characters of UTF-8 text.
std::size_t character_count(std::string_view text);

/// The text with %FF for each byte that is not UTF-8.
std::string valid_utf8(std::string_view text);

/// Text from a file for use in a message: control characters are escaped, and it is cut after 60
/// characters.
std::string printable(std::string_view text);

/// Text from a file for one line of a terminal or a log, at any length. Control characters, bytes
/// that are not UTF-8, marks that turn the direction of text, and the ## that starts commands of CI
/// services are escaped.
std::string one_line(std::string_view text);

/// "a, b, c". If there are more than 16 names, the first ones and their total number. Each name is
/// cut after 60 characters.
std::string names_of_list(const std::vector<std::string>& names);

/// "[1, 2, 3]". If there are more than 16 numbers, the first ones and their total number.
template <typename Range>
std::string list_of(const Range& numbers) {
  constexpr std::size_t shown_max = 16;
  std::string text = "[";
  std::size_t shown = 0;
  for (const auto number : numbers) {
    if (shown == shown_max) return text + ", ... " + std::to_string(numbers.size()) + " values]";
    if (shown++ > 0) text += ", ";
    text += std::to_string(number);
  }
  return text + "]";
}

}  // namespace dmlop
