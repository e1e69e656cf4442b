#include "json/syntax_remedy.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "json/meant_number.hpp"

namespace dmlop::json {
namespace {

// Longer tokens are not repeated in a remedy.
constexpr std::size_t longest_token = 60;

bool is_in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The brackets that close those which are open, the innermost first.
std::string closing(std::string_view open) {
  std::string brackets(open.rbegin(), open.rend());
  for (char& bracket : brackets) bracket = bracket == '[' ? ']' : '}';
  return brackets;
}

// A word of another language, or a misspelt one, as JSON has it; "" for other words.
std::string word_of_json(std::string_view word) {
  const std::string lower = lower_case(std::string(word));
  if (lower == "true" || lower == "false") return lower;
  if (lower == "none" || lower == "nil" || lower == "nullptr" || lower == "undefined")
    return "null";
  const bool is_negative = lower.starts_with('-');
  if (lower.ends_with("inf") || lower.ends_with("infinity"))
    return is_negative ? "\"-inf\"" : "\"inf\"";
  if (lower.ends_with("nan")) return "\"nan\"";
  return nearest_name(lower, {"true", "false", "null"});
}

std::string remedy_of_value(std::string_view token) {
  if (token == ",") return "leave this comma out";
  if (token == "]" || token == "}") return "write a value before it";
  if (token.size() <= longest_token) {
    if (const auto number = meant_number(trimmed(token, ";"))) return "write " + *number;
    if (const std::string word = word_of_json(token); !word.empty()) return "write " + word;
    const std::string_view word = trimmed(token, "'`");
    const auto is_in_name = [](char c) {
      return is_in_word(c) || c == '.' || c == '-' || c == '/';
    };
    const bool is_word = !word.empty() && !(word.front() >= '0' && word.front() <= '9') &&
                         std::any_of(word.begin(), word.end(), is_in_word) &&
                         std::all_of(word.begin(), word.end(), is_in_name);
    if (is_word) return "write \"" + std::string(word) + '"';
  }
  if (token.starts_with('(')) return "write a list in brackets, such as [2, 3]";
  return "write a number, true, false, a \"string\", a [list] or an {\"object\": 1}";
}

std::string remedy_of_name(std::string_view token, std::string_view open) {
  if (token == ",") return "leave this comma out";
  const std::string_view word = trimmed(token, "'`");
  const bool is_name = !word.empty() && !(word.front() >= '0' && word.front() <= '9') &&
                       word.size() <= longest_token &&
                       std::all_of(word.begin(), word.end(), is_in_word);
  if (is_name) return "write \"" + std::string(word) + '"';
  const bool is_closed_elsewhere = token == "]" && open.find('[') != open.npos;
  return is_closed_elsewhere ? "write } before it"
                             : "write the values of a list in brackets, such as [2, 3]";
}

// Behind a value in an array or object.
std::string remedy_of_next(std::string_view token, std::string_view open) {
  const std::string bracket = closing(open.substr(open.size() - 1));
  if (token == "]" || token == "}") {
    const bool closes_outer = open.size() > 1 && closing(open.substr(open.size() - 2, 1)) == token;
    return closes_outer ? "write " + bracket + " before it" : "write " + bracket;
  }
  if (token == ":")
    return bracket == "]" ? "write a comma, or an object in braces" : "leave it out";
  return token.find_first_not_of(";|") == token.npos ? "write a comma" : "write a comma before it";
}

}  // namespace

std::string remedy_of(Expected expected, std::string_view token, std::string_view open) {
  if (token.empty()) {
    const bool has_colon = expected != Expected::colon && expected != Expected::value;
    if (has_colon && !open.empty()) return "write " + closing(open) + " at the end";
    return "save the whole text: it ends in the middle of a value";
  }
  switch (expected) {
    case Expected::value:
      return remedy_of_value(token);
    case Expected::name:
      return remedy_of_name(token, open);
    case Expected::colon:
      return token == "=" || token == "=>" ? "write a colon"
                                           : "write a colon and a value behind the name";
    case Expected::next_member:
    case Expected::next_item:
      return remedy_of_next(token, open);
    case Expected::end:
      return "leave out what stands here and behind it";
  }
  return "";
}

std::string remedy_of_string(std::string_view reason) {
  if (reason.starts_with("missing closing quote")) return "write \" at the end of the string";
  if (reason.starts_with("control character")) return "write \\n for a new line, and \\t for a tab";
  if (reason.starts_with("forbidden character after backslash"))
    return "write \\\\ for a backslash; in paths, / works as well";
  if (reason.starts_with("ill-formed UTF-8")) return "save the file as UTF-8";
  return "write the character itself";
}

}  // namespace dmlop::json
