#include "numbers.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

#include "base/text.hpp"
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

CLI::Validator byte_count(std::uint64_t min) {
  constexpr std::uint64_t max = std::uint64_t{1} << 62;
  const auto check = [=](std::string& text) {
    std::string bytes = text;
    std::string problem;
    try {
      problem = CLI::AsSizeValue(false)(bytes);
    } catch (const CLI::ValidationError& error) {
      problem = error.what();
    }
    const auto number = number_in<std::uint64_t>(bytes);
    if (!problem.empty() || !number || *number < min || *number > max)
      return refusal(text, "a whole number of bytes from " + std::to_string(min) +
                               ", such as 4096, 512MB or 2GB");
    text = bytes;
    return std::string();
  };
  return {check, "BYTES"};
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

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string list = join(words);
  const auto check = [words = std::move(words), list](const std::string& text) {
    const bool is_good = std::find(words.begin(), words.end(), text) != words.end();
    return is_good ? "" : refusal(text, "one of " + list);
  };
  return {check, "{" + list + "}"};
}

}  // namespace dmlop::app
