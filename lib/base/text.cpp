#include "base/text.hpp"

#include <array>
#include <cstdio>

#include "base/escape.hpp"

namespace dmlop {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool starts_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
}

}  // namespace

std::string_view trimmed(std::string_view text, std::string_view ends) {
  const std::size_t begin = text.find_first_not_of(ends);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(ends) + 1 - begin);
}

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), lower);
  return text;
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return text;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string printable(std::string_view text) {
  constexpr std::size_t shown_max = 60;
  constexpr std::string_view hexadecimal = "0123456789abcdef";
  std::string shown;
  std::size_t characters = 0;
  for (const char c : text) {
    if (starts_character(c) && ++characters > shown_max) return shown + "...";
    const auto code = static_cast<unsigned char>(c);
    if (code >= 0x20 && code != 0x7F) {
      shown += c;
    } else {
      shown += {'\\', 'u', '0', '0', hexadecimal[code / 16], hexadecimal[code % 16]};
    }
  }
  return shown;
}

namespace {

std::string percent_escape(unsigned char byte) {
  std::array<char, 4> text;
  std::snprintf(text.data(), text.size(), "%%%02X", static_cast<unsigned>(byte));
  return text.data();
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = first_character(text).length;
    valid += length > 0 ? std::string(text.substr(0, length))
                        : percent_escape(static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max(length, std::size_t{1}));
  }
  return valid;
}

std::string one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  LineEscaper escaper(LineEscaper::Place::within_line);
  while (!text.empty()) line += escaper.next(text);
  return line;
}

std::string names_of_list(const std::vector<std::string>& names) {
  constexpr std::size_t shown_max = 16;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < shown_max; ++i)
    text += (i == 0 ? "" : ", ") + printable(names[i]);
  const std::size_t more = names.size() - std::min(names.size(), shown_max);
  return more == 0 ? text : text + ", and " + std::to_string(more) + " more";
}

std::string rounded(double number) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", number);
  return text.data();
}

namespace {

// The set "[...]" at the start of `pattern`, and whether it has `c`. The length is 0 if the set is
// not closed.
struct SetMatch {
  std::size_t length = 0;
  bool matches = false;
};

SetMatch match_set(std::string_view pattern, char c) {
  std::size_t at = 1;
  const bool negated = at < pattern.size() && pattern[at] == '!';
  if (negated) ++at;
  const std::size_t first = at;
  bool found = false;
  for (; at < pattern.size() && (pattern[at] != ']' || at == first); ++at) {
    const bool is_range =
        at + 2 < pattern.size() && pattern[at + 1] == '-' && pattern[at + 2] != ']';
    found = found || (is_range ? pattern[at] <= c && c <= pattern[at + 2] : pattern[at] == c);
    if (is_range) at += 2;
  }
  if (at >= pattern.size()) return {};
  return {at + 1, found != negated};
}

}  // namespace

bool matches_pattern(std::string_view text, std::string_view pattern) {
  // After a mismatch, the last * takes one more character.
  std::size_t t = 0, p = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    const SetMatch set = p < pattern.size() && pattern[p] == '['
                             ? match_set(pattern.substr(p), text[t])
                             : SetMatch{};
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (set.length != 0 && set.matches) {
      p += set.length;
      ++t;
    } else if (set.length == 0 && p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::string literal_pattern(std::string_view text) {
  std::string pattern;
  for (const char c : text) {
    const bool special = c == '*' || c == '?' || c == '[';
    pattern += special ? std::string("[") + c + "]" : std::string(1, c);
  }
  return pattern;
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%";
  if (!text.empty() && text.find_first_not_of(safe) == std::string_view::npos)
    return std::string(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace dmlop
