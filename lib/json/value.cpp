#include "json/value.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>

#include "base/text.hpp"

namespace dmlop::json {
namespace {

// The exponent of a JSON number, given the text after e or E with its optional sign. Exponents
// beyond 64 bits count as the largest.
std::int64_t exponent_of(std::string_view digits) {
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.remove_prefix(1);
  constexpr std::int64_t largest = std::int64_t{1} << 40;  // no text has so many digits
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || number > largest) number = largest;
  return is_negative ? -number : number;
}

// Whether a JSON number other than 0 has a magnitude of 1 or more. `literal` has no sign.
bool is_at_least_one(std::string_view literal) {
  const std::size_t letter = std::min(literal.find_first_of("eE"), literal.size());
  const std::string_view digits = literal.substr(0, letter);
  const std::size_t point = std::min(digits.find('.'), digits.size());
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  // How many places the first nonzero digit is in front of the point.
  const auto places = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  const std::int64_t power = places > 0 ? places - 1 : places;
  const bool has_exponent = letter < literal.size();
  return power + (has_exponent ? exponent_of(literal.substr(letter + 1)) : 0) >= 0;
}

}  // namespace

std::optional<double> nearest_double(const Value& value) {
  if (value.kind != Value::Kind::number) return std::nullopt;
  const std::string& text = value.text;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{}) return number;
  number = is_at_least_one(text) ? std::numeric_limits<double>::infinity() : 0;
  return text.starts_with('-') ? -number : number;
}

const Value* Value::find(std::string_view name) const {
  for (const Member& member : members) {
    if (member.name == name && !member.is_left_out) return &member.value;
  }
  return nullptr;
}

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "null";
    case Value::Kind::boolean:
      return value.boolean ? "true" : "false";
    case Value::Kind::number:
      return printable(value.text);
    case Value::Kind::string:
      return "the string \"" + printable(value.text) + "\"";
    case Value::Kind::array:
      if (value.items.empty()) return "an empty array";
      return value.items.front().kind == Value::Kind::array ? "an array of arrays" : "an array";
    case Value::Kind::object:
      return "an object";
  }
  return "";
}

}  // namespace dmlop::json
