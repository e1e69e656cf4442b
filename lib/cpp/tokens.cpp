#include "cpp/tokens.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"

namespace dmlop::cpp {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Bytes of names that are not ASCII count as letters.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

// Longer symbols come first.
constexpr std::array<std::string_view, 24> long_symbols{
    "<<=", ">>=", "...", "->", "::", "++", "--", "<<", ">>", "<=", ">=", "==",
    "!=",  "&&",  "||",  "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##"};

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> all() {
    while (skip_blanks()) next();
    end_directive();
    add(Token::Kind::end, at_);
    return std::move(tokens_);
  }

  /// Where the first comment or raw string begins that does not end; all() must have run.
  std::optional<std::size_t> unclosed() const { return unclosed_; }

 private:
  // Returns false at the end of the text.
  bool skip_blanks() {
    while (at_ < text_.size()) {
      const std::string_view rest = text_.substr(at_);
      if (rest.starts_with("\\\n") || rest.starts_with("\\\r\n")) {
        at_ = text_.find('\n', at_) + 1;  // the line goes on
      } else if (rest.front() == '\n') {
        end_directive();
        begins_line_ = true;
        ++at_;
      } else if (is_blank(rest.front())) {
        ++at_;
      } else if (rest.starts_with("//")) {
        at_ = end_of_comment();
      } else if (rest.starts_with("/*")) {
        const std::size_t close = text_.find("*/", at_ + 2);
        if (close == std::string_view::npos) unclosed_ = at_;
        at_ = close == std::string_view::npos ? text_.size() : close + 2;
      } else {
        return true;
      }
    }
    return false;
  }

  // A line that ends with a backslash goes on in the next one.
  std::size_t end_of_comment() const {
    std::size_t end = text_.find('\n', at_);
    while (end != std::string_view::npos) {
      const std::size_t last = text_[end - 1] == '\r' ? end - 2 : end - 1;
      if (text_[last] != '\\') return end;
      end = text_.find('\n', end + 1);
    }
    return text_.size();
  }

  void end_directive() {
    if (in_directive_) add(Token::Kind::line_end, at_);
    in_directive_ = false;
  }

  void next() {
    const char c = text_[at_];
    const bool begins_line = begins_line_;
    begins_line_ = false;
    const bool is_fraction = c == '.' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]);
    if (is_digit(c) || is_fraction) return add(Token::Kind::number, end_of_number());
    if (const auto end = end_of_raw_text()) return add(Token::Kind::text, *end);
    if (is_letter(c)) return add(Token::Kind::word, end_of_word());
    if (c == '"' || c == '\'') return add(Token::Kind::text, end_of_text(c));
    if (c == '#' && begins_line) in_directive_ = true;
    for (const std::string_view symbol : long_symbols) {
      if (text_.substr(at_).starts_with(symbol))
        return add(Token::Kind::symbol, at_ + symbol.size());
    }
    add(Token::Kind::symbol, at_ + 1);
  }

  std::size_t end_of_word() const {
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    return end;
  }

  // As the preprocessor does: digits, letters, points, signs of exponents and ' between digits.
  std::size_t end_of_number() const {
    std::size_t end = at_;
    const bool is_hexadecimal =
        text_.substr(at_).starts_with("0x") || text_.substr(at_).starts_with("0X");
    while (end < text_.size()) {
      const char c = text_[end];
      const char last = end > at_ ? text_[end - 1] : ' ';
      const bool is_exponent =
          is_hexadecimal ? last == 'p' || last == 'P' : last == 'e' || last == 'E';
      const bool is_sign = (c == '+' || c == '-') && is_exponent;
      const bool separates = c == '\'' && end + 1 < text_.size() &&
                             (is_digit(text_[end + 1]) || is_letter(text_[end + 1]));
      if (!is_digit(c) && !is_letter(c) && c != '.' && !is_sign && !separates) break;
      ++end;
    }
    return end;
  }

  // R"x(...)x", in which nothing but )x" ends the text.
  std::optional<std::size_t> end_of_raw_text() {
    const std::string_view rest = text_.substr(at_);
    for (const std::string_view prefix : {"R\"", "LR\"", "uR\"", "UR\"", "u8R\""}) {
      if (!rest.starts_with(prefix)) continue;
      const std::size_t open = rest.find('(', prefix.size());
      if (open == std::string_view::npos || open - prefix.size() > 16) return std::nullopt;
      const std::string close =
          ")" + std::string(rest.substr(prefix.size(), open - prefix.size())) + "\"";
      const std::size_t end = rest.find(close, open);
      if (end != std::string_view::npos) return at_ + end + close.size();
      unclosed_ = at_;
      return text_.size();
    }
    return std::nullopt;
  }

  std::size_t end_of_text(char quote) const {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != quote && text_[end] != '\n')
      end += text_[end] == '\\' ? 2 : 1;
    const bool is_closed = end < text_.size() && text_[end] == quote;
    return std::min(is_closed ? end + 1 : end, text_.size());
  }

  void add(Token::Kind kind, std::size_t end) {
    tokens_.push_back({kind, {at_, end}, text_.substr(at_, end - at_)});
    at_ = end;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool begins_line_ = true;
  bool in_directive_ = false;
  std::optional<std::size_t> unclosed_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  return Tokenizer(text).all();
}

void require_closed(std::string_view text) {
  Tokenizer tokenizer(text);
  tokenizer.all();
  const auto begin = tokenizer.unclosed();
  if (!begin) return;
  const bool is_comment = text.substr(*begin).starts_with("/*");
  refuse_unclosed(text, *begin,
                  is_comment ? "this comment has no */" : "this raw string does not end");
}

void refuse_unclosed(std::string_view text, std::size_t offset, const std::string& message) {
  const LineColumn at = position_of(text, offset);
  throw Error(ErrorKind::invalid_input, "line " + std::to_string(at.line) + ", column " +
                                            std::to_string(at.column) + ": " + message +
                                            ", so that what follows is not read; close it");
}

LineColumn position_of(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  return {static_cast<std::uint32_t>(1 + std::count(before.begin(), before.end(), '\n')),
          static_cast<std::uint32_t>(1 + character_count(before.substr(line_begin)))};
}

}  // namespace dmlop::cpp
