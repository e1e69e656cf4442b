#include "options.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <limits>
#include <map>

#include "base/diagnostic.hpp"
#include "base/text.hpp"
#include "command_line.hpp"
#include "option_text.hpp"
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

// The choices of each option. Options live as long as the process, and CLI11 does not store
// choices.
std::map<const CLI::Option*, std::vector<std::string>>& choice_registry() {
  static std::map<const CLI::Option*, std::vector<std::string>> registry;
  return registry;
}

struct Fit {
  std::vector<InputForm> forms;
  std::map<InputForm, std::string> instead;
};

// The forms of each option that is not for all of them.
std::map<const CLI::Option*, Fit>& fit_registry() {
  static std::map<const CLI::Option*, Fit> registry;
  return registry;
}

bool is_for(const std::vector<InputForm>& forms, InputForm form) {
  return std::find(forms.begin(), forms.end(), form) != forms.end();
}

const char* plural_of(InputForm form) {
  constexpr const char* names[] = {"op descriptions", "DxDispatch models", "graphs", "ONNX models",
                                   "ONNX tests",      "tensors",           "C++"};
  return names[static_cast<int>(form)];
}

const char* singular_of(InputForm form) {
  constexpr const char* names[] = {
      "an op description", "a DxDispatch model", "a graph", "an ONNX model",
      "an ONNX test",      "a tensor",           "C++"};
  return names[static_cast<int>(form)];
}

// "graphs and ONNX models"
std::string forms_text(const std::vector<InputForm>& forms) {
  std::string list;
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (i > 0) list += i + 1 == forms.size() ? " and " : ", ";
    list += plural_of(forms[i]);
  }
  return list;
}

}  // namespace

Option Option::type_name(const std::string& name) const {
  return option_->type_name(name);
}

Option Option::required(bool is_required) const {
  return option_->required(is_required);
}

Option Option::expected(int count) const {
  return option_->expected(count);
}

Option Option::expected(int least, int most) const {
  return option_->expected(least, most);
}

Option Option::default_text(const std::string& text) const {
  return option_->default_str(text);
}

Option Option::take_all() const {
  if (option_->get_expected_max() > 1) option_->expected(1);
  return option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

Option Option::excludes(Option other) const {
  return option_->excludes(other.option_);
}

Option Option::only_for(const std::vector<InputForm>& forms,
                        const std::map<InputForm, std::string>& instead) const {
  fit_registry()[option_] = {forms, instead};
  std::string text = option_->get_description();
  if (is_for(forms, InputForm::description)) return *this;
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return option_->description("For " + forms_text(forms) + ": " + text);
}

Option Option::choices(std::vector<std::string> choices) const {
  choice_registry()[option_] = std::move(choices);
  return *this;
}

Option Option::one_of(const std::vector<std::string>& values) const {
  const std::string list = join(values);
  const auto check = [=](const std::string& text) {
    const bool is_good = std::find(values.begin(), values.end(), text) != values.end();
    return is_good ? "" : refusal(text, "one of " + list);
  };
  return option_->check(check, "{" + list + "}");
}

// Leading zeros are ignored; for CLI11 they would mean octal.
Option Option::integer_between(std::uint64_t min, std::uint64_t max) const {
  const std::string first = std::to_string(min), last = std::to_string(max);
  return option_->transform(integer(min, max, "an integer from " + first + " to " + last,
                                    "UINT in [" + first + " - " + last + "]"));
}

Option Option::positive_integer() const {
  return option_->transform(integer(1, std::numeric_limits<std::uint64_t>::max(),
                                    "an integer greater than 0", "POSITIVE"));
}

Option Option::number_between(double min, double max) const {
  const std::string first = shortest_text(min), last = shortest_text(max);
  const auto check = [=](const std::string& text) {
    const auto number = number_in<double>(text);
    const bool is_good = number && *number >= min && *number <= max;  // false for NaN
    return is_good ? "" : refusal(text, "a number from " + first + " to " + last);
  };
  return option_->check(check, "FLOAT in [" + first + " - " + last + "]");
}

Option Option::positive_number() const {
  const auto check = [](const std::string& text) {
    const auto number = number_in<double>(text);
    const bool is_good = number && *number > 0 && *number <= std::numeric_limits<double>::max();
    return is_good ? "" : refusal(text, "a number greater than 0");
  };
  return option_->check(check, "POSITIVE");
}

Option Option::bytes_from(std::uint64_t least) const {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  const auto check = [=](std::string& text) {
    std::string bytes = text;
    std::string problem;
    try {
      problem = CLI::AsSizeValue(false)(bytes);
    } catch (const CLI::ValidationError& error) {
      problem = error.what();
    }
    const auto number = number_in<std::uint64_t>(bytes);
    if (!problem.empty() || !number || *number < least || *number > most)
      return refusal(text, "a whole number of bytes from " + std::to_string(least) +
                               ", such as 4096, 512MB or 2GB");
    text = bytes;
    return std::string();
  };
  return option_->transform(CLI::Validator(check, "BYTES"));
}

std::string Option::name() const {
  return names_of(*option_).front();
}

bool Option::is_given() const {
  return option_->count() > 0;
}

Diagnostics OptionList::unfit(InputForm form, const std::string& file,
                              const std::vector<InputForm>& others) const {
  Diagnostics findings;
  for (const CLI::Option* option : command_.get_options()) {
    const auto found = fit_registry().find(option);
    if (option->count() == 0 || found == fit_registry().end()) continue;
    const Fit& fit = found->second;
    const auto is_fit = [&](InputForm one) { return is_for(fit.forms, one); };
    if (is_fit(form) || std::any_of(others.begin(), others.end(), is_fit)) continue;
    const auto instead = fit.instead.find(form);
    findings.push_back({.kind = ErrorKind::usage,
                        .file = file,
                        .message = names_of(*option).front() + " is for " + forms_text(fit.forms) +
                                   ", and this is " + singular_of(form),
                        .suggestion = instead != fit.instead.end() ? instead->second : ""});
  }
  return findings;
}

Option OptionList::add_option(const std::string& names, std::string& to, const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option(const std::string& names, std::optional<std::string>& to,
                              const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option(const std::string& names, std::vector<std::string>& to,
                              const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option(const std::string& names, double& to, const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option(const std::string& names, std::optional<double>& to,
                              const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option(const std::string& names, unsigned& to, const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option(const std::string& names, std::uint64_t& to,
                              const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option(const std::string& names, std::optional<int>& to,
                              const std::string& text) {
  return command_.add_option(names, to, text);
}

Option OptionList::add_option_function(const std::string& names,
                                       const std::function<void(const std::string&)>& take,
                                       const std::string& text) {
  return command_.add_option_function<std::string>(names, take, text);
}

Option OptionList::add_option_function(
    const std::string& names, const std::function<void(const std::vector<std::string>&)>& take,
    const std::string& text) {
  return command_.add_option_function<std::vector<std::string>>(names, take, text);
}

Option OptionList::add_flag(const std::string& names, bool& to, const std::string& text) {
  return command_.add_flag(names, to, text);
}

Option OptionList::add_flag(const std::string& names, std::string& to, const std::string& text) {
  return command_.add_flag(names, to, text);
}

Option OptionList::option(const std::string& name) const {
  return command_.get_option(name);
}

void OptionList::footer(const std::string& text) {
  command_.footer(text);
}

void refuse_option(const std::string& name, const std::string& message) {
  throw CLI::ValidationError(name, message);
}

void refuse_option(const std::string& message) {
  throw CLI::ValidationError(message);
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const auto found = choice_registry().find(&option);
  return found == choice_registry().end() ? std::vector<std::string>{} : found->second;
}

}  // namespace dmlop::app
