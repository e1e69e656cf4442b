#include "json/strict_text.hpp"

#include <algorithm>
#include <utility>

namespace dmlop::json {
namespace {

// Returns one past the closing quote of the string literal that starts at `begin`.
std::size_t skip_string(std::string_view text, std::size_t begin) {
  std::size_t at = begin + 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// Returns the end of the comment that starts at `begin`, or npos for a /* comment that never ends.
std::size_t skip_comment(std::string_view text, std::size_t begin) {
  if (text[begin + 1] == '/') return std::min(text.find('\n', begin), text.size());
  const std::size_t close = text.find("*/", begin + 2);
  return close == std::string_view::npos ? close : close + 2;
}

// The value of a number is read later, from the original text. Here the number only has to be
// harmless: nlohmann stops at a number beyond double, and C libraries may take a time that is
// quadratic in the digits.

// Replaces the far digits of a fraction by zeros. Messages show the first ones.
void blank_fraction(std::string& text, std::size_t point) {
  constexpr std::size_t kept = 32;
  if (point == 0 || !is_digit(text[point - 1])) return;
  std::size_t at = point + 1;
  while (at < text.size() && at <= point + kept && is_digit(text[at])) ++at;
  for (; at < text.size() && is_digit(text[at]); ++at) text[at] = '0';
}

// Replaces the exponent whose letter is at `letter` by zeros.
void blank_exponent(std::string& text, std::size_t letter) {
  if (letter == 0 || !is_digit(text[letter - 1])) return;
  std::size_t at = letter + 1;
  if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  for (; at < text.size() && is_digit(text[at]); ++at) text[at] = '0';
}

// Replaces comments and trailing commas by spaces, so that strict JSON with the same offsets
// remains. Returns the offset of a comment that never ends, if there is one.
std::optional<std::size_t> blank_extensions(std::string& text) {
  std::size_t comma =
      std::string::npos;  // a comma that only spaces and comments have followed so far
  char before_comma = 0;
  char last = 0;  // the last character that is not part of a space or a comment
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool comment =
        c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*');
    if (comment) {
      const std::size_t end = skip_comment(text, at);
      if (end == std::string::npos) return at;
      for (; at < end; ++at) {
        if (text[at] != '\n') text[at] = ' ';
      }
      continue;
    }
    if (is_space(c)) {
      ++at;
      continue;
    }
    if (c == '.') blank_fraction(text, at);
    if (c == 'e' || c == 'E') blank_exponent(text, at);
    const bool closes = c == ']' || c == '}';
    const bool follows_value = before_comma != 0 && before_comma != '[' && before_comma != '{' &&
                               before_comma != ',' && before_comma != ':';
    if (closes && comma != std::string::npos && follows_value) text[comma] = ' ';
    comma = c == ',' ? at : std::string::npos;
    if (c == ',') before_comma = last;
    last = c;
    at = c == '"' ? skip_string(text, at) : at + 1;
  }
  return std::nullopt;
}

}  // namespace

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::size_t skip_token(std::string_view text, std::size_t begin) {
  if (text[begin] == '"') return skip_string(text, begin);
  if (structure.find(text[begin]) != std::string_view::npos) return begin + 1;
  return std::min(text.find_first_of(" \t\r\n,:[]{}", begin), text.size());
}

StrictText strict_text(std::string text) {
  if (text.starts_with(byte_order_mark)) text.replace(0, byte_order_mark.size(), "   ");
  const auto comment = blank_extensions(text);
  if (comment) text.resize(*comment);
  return {std::move(text), comment};
}

}  // namespace dmlop::json
