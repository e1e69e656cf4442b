#include "json/meant_number.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "json/strict_text.hpp"

namespace dmlop::json {
namespace {

// Longer texts are no number that a person wrote.
constexpr std::size_t longest_meant = 64;

// Takes the digits at the front of `text`.
std::string_view take_digits(std::string_view& text) {
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(digits.size());
  return digits;
}

std::optional<std::string> hexadecimal(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  if (!text.starts_with("0x") && !text.starts_with("0X")) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, 16);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return (is_negative ? "-" : "") + std::to_string(number);
}

// 1_000 of Python and 1'000 of C++ without what stands between the digits.
std::string without_separators(std::string_view text) {
  std::string digits;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_separator = (text[i] == '_' || text[i] == '\'') && i > 0 && i + 1 < text.size() &&
                              is_digit(text[i - 1]) && is_digit(text[i + 1]);
    if (!is_separator) digits += text[i];
  }
  return digits;
}

std::string_view without_brackets(std::string_view text) {
  const bool has_brackets = text.size() > 2 && text.starts_with('(') && text.ends_with(')');
  return has_brackets ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

std::optional<std::string> decimal_number(std::string_view text) {
  std::string number;
  if (text.starts_with('-')) number = "-";
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  std::string_view whole = take_digits(text);
  const bool has_point = text.starts_with('.');
  if (has_point) text.remove_prefix(1);
  const std::string_view fraction = has_point ? take_digits(text) : "";
  if (whole.empty() && fraction.empty()) return std::nullopt;
  while (whole.size() > 1 && whole.front() == '0') whole.remove_prefix(1);
  number += whole.empty() ? "0" : whole;
  if (has_point) number.append(".").append(fraction.empty() ? "0" : fraction);
  if (text.empty()) return number;
  if (text.front() != 'e' && text.front() != 'E') return std::nullopt;
  text.remove_prefix(1);
  number += 'e';
  if (text.starts_with('-') || text.starts_with('+')) {
    number += text.front();
    text.remove_prefix(1);
  }
  const std::string_view exponent = take_digits(text);
  if (exponent.empty() || !text.empty()) return std::nullopt;
  return number.append(exponent);
}

std::optional<std::string> meant_number(std::string_view text) {
  if (text.size() > longest_meant) return std::nullopt;
  const std::string plain = without_separators(without_brackets(text));
  if (auto number = hexadecimal(plain)) return number;
  if (auto number = decimal_number(plain)) return number;
  const std::size_t end = plain.find_last_not_of("fFlLuU");  // suffixes of C
  return end == plain.npos ? std::nullopt
                           : decimal_number(std::string_view(plain).substr(0, end + 1));
}

}  // namespace dmlop::json
