#include "base/escape.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>

#include "base/utf8.hpp"

namespace dmlop {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

// Unicode's control characters, line ends and Default_Ignorable_Code_Point, in ascending order.
constexpr std::array hidden{
    Range{0x00, 0x1F},       Range{0x7F, 0x9F},       Range{0xAD, 0xAD},
    Range{0x34F, 0x34F},     Range{0x61C, 0x61C},     Range{0x115F, 0x1160},
    Range{0x17B4, 0x17B5},   Range{0x180B, 0x180F},   Range{0x200B, 0x200F},
    Range{0x2028, 0x202E},   Range{0x2060, 0x206F},   Range{0x3164, 0x3164},
    Range{0xFE00, 0xFE0F},   Range{0xFEFF, 0xFEFF},   Range{0xFFA0, 0xFFA0},
    Range{0xFFF0, 0xFFFB},   Range{0xFFFE, 0xFFFF},   Range{0x1BCA0, 0x1BCA3},
    Range{0x1D173, 0x1D17A}, Range{0xE0000, 0xE0FFF},
};

// White space that is not escaped. A CI service skips it before it looks for a command.
constexpr std::array blanks{
    Range{0x20, 0x20},     Range{0xA0, 0xA0},     Range{0x1680, 0x1680}, Range{0x2000, 0x200A},
    Range{0x202F, 0x202F}, Range{0x205F, 0x205F}, Range{0x3000, 0x3000},
};

template <std::size_t count>
constexpr bool is_in(const std::array<Range, count>& ranges, std::uint32_t code) {
  return std::any_of(ranges.begin(), ranges.end(), [code](const Range& range) {
    return range.first <= code && code <= range.last;
  });
}

constexpr bool is_plain(char c) {
  return c > ' ' && c < 0x7F && c != '#' && c != ':';
}

}  // namespace

bool shows_as_itself(std::uint32_t code) {
  if (code < 0x7F) return code >= 0x20;
  return !is_in(hidden, code);
}

bool LineEscaper::must_escape(std::uint32_t code) const {
  return !shows_as_itself(code) || (code == '#' && ends_in_hash_) || (code == ':' && is_at_start_);
}

void LineEscaper::move_past(std::uint32_t code) {
  ends_in_hash_ = code == '#';
  is_at_start_ = is_at_start_ && (code == ':' || is_in(blanks, code));
}

std::string_view LineEscaper::escape_of(const Character& character, unsigned char byte) {
  const auto write = [&](auto... arguments) {
    return std::string_view(escape_.data(), static_cast<std::size_t>(std::snprintf(
                                                escape_.data(), escape_.size(), arguments...)));
  };
  ends_in_hash_ = false;
  is_at_start_ = false;
  const auto code = static_cast<unsigned>(character.code);
  if (character.length == 0) return write("\\x%02x", static_cast<unsigned>(byte));
  if (code < 0x10000) return write("\\u%04x", code);
  return write("\\u%04x\\u%04x", 0xD7C0 + (code >> 10U), 0xDC00 + (code & 0x3FFU));
}

std::string_view LineEscaper::next(std::string_view& text) {
  std::size_t shown = 0;
  Character character;
  while (shown < text.size()) {
    // Most characters need no attention wherever they are.
    const std::size_t plain_begin = shown;
    while (shown < text.size() && is_plain(text[shown])) ++shown;
    if (shown > plain_begin) ends_in_hash_ = is_at_start_ = false;
    if (shown == text.size()) break;
    character = first_character(text.substr(shown));
    if (character.length == 0 || must_escape(character.code)) break;
    move_past(character.code);
    shown += character.length;
  }
  if (shown == 0) {
    const std::string_view escape = escape_of(character, static_cast<unsigned char>(text[0]));
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
    return escape;
  }
  const std::string_view piece = text.substr(0, shown);
  text.remove_prefix(shown);
  return piece;
}

void LineEscaper::pass(std::string_view text) {
  const std::size_t line_end = text.rfind('\n');
  if (line_end != std::string_view::npos) {
    text.remove_prefix(line_end + 1);
    is_at_start_ = true;
    ends_in_hash_ = false;
  }
  while (!text.empty()) {
    const Character character = first_character(text);
    move_past(character.code);
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
}

}  // namespace dmlop
