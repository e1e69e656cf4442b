#include "tolerance_options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.hpp"

namespace dmlop::app {
namespace {

/// An option with a number from 0 to the largest of its type.
template <typename Number>
Option add_number(OptionList& command, const std::string& name, std::optional<Number>& to,
                  const std::string& text, const std::string& must_be) {
  return command.add_option_function(
      name,
      [name, &to, must_be](const std::string& word) {
        Number number{};
        const char* end = word.data() + word.size();
        const auto [stop, error] = std::from_chars(word.data(), end, number);
        const bool is_number = error == std::errc{} && stop == end;
        if (!is_number || !(number >= 0 && number <= std::numeric_limits<Number>::max()))
          refuse_option(name, "\"" + word + "\" must be " + must_be);
        to = number;
      },
      text);
}

}  // namespace

void ToleranceOptions::add_to(OptionList& command) {
  const std::string number = "a number that is not negative, such as 1e-5";
  options_.push_back(add_number(command, "--rtol", tolerance.rtol,
                                "Allow |actual - expected| <= ATOL + RTOL * |expected|", number)
                         .type_name("NUMBER"));
  options_.push_back(add_number(command, "--atol", tolerance.atol,
                                "See --rtol; if only one of the two is given, the other is 0",
                                number)
                         .type_name("NUMBER"));
  options_.push_back(add_number(command, "--ulp", tolerance.ulp,
                                "Allow N representable values between actual and expected",
                                "an integer from 0 to " +
                                    std::to_string(std::numeric_limits<std::uint64_t>::max()))
                         .type_name("N"));
  const std::vector<std::string> rules{"equal", "differ"};
  options_.push_back(
      command
          .add_option_function(
              "--nan",
              [this](const std::string& word) { tolerance.nan_equals_nan = word == "equal"; },
              "Whether NaN equals NaN: equal (default) or differ")
          .one_of(rules)
          .type_name("RULE")
          .choices(rules));
  options_.push_back(
      command.add_flag("--allow-trivial", tolerance.allow_trivial,
                       "Accept a match that proves nothing: outputs that are all NaN, or all "
                       "zero where different numbers are expected"));
}

std::vector<std::string> ToleranceOptions::names() const {
  std::vector<std::string> names;
  for (const Option& option : options_) names.push_back(option.name());
  return names;
}

bool ToleranceOptions::given() const {
  return std::any_of(options_.begin(), options_.end(),
                     [](const Option& option) { return option.is_given(); });
}

std::string ToleranceOptions::text() const {
  std::string text;
  if (tolerance.rtol) text += " --rtol " + shortest_text(*tolerance.rtol);
  if (tolerance.atol) text += " --atol " + shortest_text(*tolerance.atol);
  if (tolerance.ulp) text += " --ulp " + std::to_string(*tolerance.ulp);
  if (!tolerance.nan_equals_nan) text += " --nan differ";
  if (tolerance.allow_trivial) text += " --allow-trivial";
  return text;
}

}  // namespace dmlop::app
