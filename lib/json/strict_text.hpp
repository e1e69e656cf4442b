// The tokens of a JSON text, and the conversion of DxDispatch's dialect to strict JSON of the same
// length.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace dmlop::json {

inline constexpr std::string_view structure = "[]{},:";
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

bool is_digit(char c);
bool is_space(char c);

/// Returns the end of the token that starts at `begin`, where `text` has neither a space nor its
/// end.
std::size_t skip_token(std::string_view text, std::size_t begin);

struct StrictText {
  std::string text;                         // ends before a comment that never ends
  std::optional<std::size_t> open_comment;  // where that comment begins
};

/// The text with spaces in place of comments, trailing commas and the byte order mark, so that
/// offsets stay the same. Numbers keep only their form: far digits of fractions and exponents
/// become zeros.
StrictText strict_text(std::string text);

}  // namespace dmlop::json
