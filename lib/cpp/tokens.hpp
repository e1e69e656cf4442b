// Cuts C++, or what a debugger prints, into words, numbers and symbols. Comments are left out.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop::cpp {

class Definitions;

/// Bytes [begin, end) of the text.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Whether a word is in a list of words.
template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::ranges::find(words, word) != words.end();
}

struct Token {
  enum class Kind {
    word,    // a name or a keyword
    number,  // as written, with its suffix
    text,    // a string or a character, with its quotes
    symbol,
    line_end,  // of a line that begins with #
    end,       // of the text
  };
  Kind kind = Kind::end;
  Span span;
  std::string_view text;  // as written

  bool is(std::string_view symbol_or_word) const {
    return text == symbol_or_word && (kind == Kind::symbol || kind == Kind::word);
  }
  bool is_word() const { return kind == Kind::word; }
};

/// The tokens of a text, which must live as long as they do. The last one is the end.
std::vector<Token> tokens_of(std::string_view text);

/// The tokens without the branches of #if, #ifdef and #ifndef that are not compiled, where the text
/// itself says so, or the definitions do: #if 0, or a name that is defined. Their lines of # go,
/// too. Errors: invalid_input where such a branch does not end.
std::vector<Token> compiled_tokens_of(std::string_view text, const Definitions& definitions);

/// Errors: invalid_input where a comment or a raw string does not end.
void require_closed(std::string_view text);

/// The error of what begins at an offset and does not end.
[[noreturn]] void refuse_unclosed(std::string_view text, std::size_t offset,
                                  const std::string& message);

/// Line and column, both from 1; the column counts Unicode characters.
struct LineColumn {
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};
LineColumn position_of(std::string_view text, std::size_t offset);

}  // namespace dmlop::cpp
