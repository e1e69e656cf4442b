#include "numbers.hpp"

#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "tensor/tolerance.hpp"

namespace dmlop::app {
namespace {

/// The number that the whole text represents.
template <typename Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::string refusal(const std::string& text, const std::string& must_be) {
  return "\"" + text + "\" must be " + must_be;
}

CLI::Validator integer(std::uint64_t min, std::uint64_t max, const std::string& must_be,
                       const std::string& shown) {
  const auto check = [=](std::string& text) {
    const auto number = number_in<std::uint64_t>(text);
    if (!number || *number < min || *number > max) return refusal(text, must_be);
    text = std::to_string(*number);
    return std::string();
  };
  return {check, shown};
}

}  // namespace

CLI::Validator integer_between(std::uint64_t min, std::uint64_t max) {
  const std::string first = std::to_string(min), last = std::to_string(max);
  return integer(min, max, "an integer from " + first + " to " + last,
                 "UINT in [" + first + " - " + last + "]");
}

CLI::Validator positive_integer() {
  return integer(1, std::numeric_limits<std::uint64_t>::max(), "an integer greater than 0",
                 "POSITIVE");
}

CLI::Validator number_between(double min, double max) {
  const std::string first = shortest_text(min), last = shortest_text(max);
  const auto check = [=](const std::string& text) {
    const auto number = number_in<double>(text);
    const bool is_good = number && *number >= min && *number <= max;  // false for NaN
    return is_good ? "" : refusal(text, "a number from " + first + " to " + last);
  };
  return {check, "FLOAT in [" + first + " - " + last + "]"};
}

CLI::Validator positive_number() {
  const auto check = [](const std::string& text) {
    const auto number = number_in<double>(text);
    const bool is_good = number && *number > 0 && *number <= std::numeric_limits<double>::max();
    return is_good ? "" : refusal(text, "a number greater than 0");
  };
  return {check, "POSITIVE"};
}

}  // namespace dmlop::app
