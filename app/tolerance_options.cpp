#include "tolerance_options.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace dmlop::app {

void ToleranceOptions::add_to(CLI::App& command) {
  const auto number = [&](const std::string& name, std::optional<double>& to,
                          const std::string& text) {
    options_.push_back(
        command.add_option(name, to, text)->check(CLI::NonNegativeNumber)->type_name("NUMBER"));
  };
  number("--rtol", tolerance.rtol, "Allow |actual - expected| <= ATOL + RTOL * |expected|");
  number("--atol", tolerance.atol, "The same; what is left out of the two is 0");
  options_.push_back(
      command.add_option("--ulp", tolerance.ulp, "Allow N representable values between")
          ->type_name("N"));
  CLI::Option* nan = command.add_option_function<std::string>(
      "--nan", [this](const std::string& word) { tolerance.nan_equals_nan = word == "equal"; },
      "Whether NaN equals NaN: equal (default) or differ");
  nan->check(CLI::IsMember({"equal", "differ"}))->type_name("RULE");
  set_choices(*nan, {"equal", "differ"});
  options_.push_back(nan);
  options_.push_back(command.add_flag("--allow-trivial", tolerance.allow_trivial,
                                      "Let tensors pass that are empty, all NaN or all zero"));
}

bool ToleranceOptions::given() const {
  return std::any_of(options_.begin(), options_.end(),
                     [](const CLI::Option* option) { return option->count() > 0; });
}

}  // namespace dmlop::app
