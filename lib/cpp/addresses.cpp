#include "cpp/addresses.hpp"

namespace dmlop::cpp {

bool is_hexadecimal(const Token& token) {
  return token.kind == Token::Kind::number &&
         (token.text.starts_with("0x") || token.text.starts_with("0X"));
}

bool is_long_address(const Token& token) {
  return is_hexadecimal(token) && token.text.size() - 2 > 8;
}

bool has_content_behind(const std::vector<Token>& tokens, std::size_t at) {
  return is_hexadecimal(tokens[at]) && at + 1 < tokens.size() && tokens[at + 1].is("{");
}

std::string plain_address(std::string_view text) {
  text.remove_prefix(2);
  while (text.size() > 1 && text.front() == '0') text.remove_prefix(1);
  std::string plain = "0x";
  for (const char c : text) {
    if (c != '\'') plain += static_cast<char>(c >= 'A' && c <= 'F' ? c + 32 : c);
  }
  return plain;
}

}  // namespace dmlop::cpp
