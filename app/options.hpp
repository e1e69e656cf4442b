// How commands declare their options. CLI11 keeps and parses them, but a compiler takes four
// seconds to read its header, so only the files that go through the command line itself include
// that.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace dmlop {
struct Diagnostic;
}

namespace dmlop::app {

/// The forms of what commands read. Not every option says something about each of them.
enum class InputForm { description, model, graph, onnx_model, onnx_test, tensor, cpp };

/// An option that was declared. Its functions say more about it.
class Option {
 public:
  Option(CLI::Option* option) : option_(option) {}

  /// What help calls its value.
  Option type_name(const std::string& name) const;
  Option required(bool is_required = true) const;
  Option expected(int count) const;
  Option expected(int least, int most) const;
  /// What counts where the option has no value.
  Option default_text(const std::string& text) const;
  /// If the option is given more than once, all its values count. Each time it takes one.
  Option take_all() const;
  Option excludes(Option other) const;
  /// Refused for other forms: OptionList::unfit. Help says so where descriptions are none of
  /// `forms`. `instead` says for some of the other forms what to do.
  Option only_for(const std::vector<InputForm>& forms,
                  const std::map<InputForm, std::string>& instead = {}) const;

  /// Its values for completion in shells. Others are accepted, too.
  Option choices(std::vector<std::string> choices) const;
  /// Other values are refused.
  Option one_of(const std::vector<std::string>& values) const;
  /// Numbers are decimal. A wrong one is refused with the values that are allowed.
  Option integer_between(std::uint64_t min, std::uint64_t max) const;
  Option positive_integer() const;
  /// Infinity and NaN are refused.
  Option number_between(double min, double max) const;
  Option positive_number() const;
  /// A number of bytes with or without a unit: 512MB is 512 * 1024 * 1024.
  Option bytes_from(std::uint64_t least) const;

  /// The first of its names, such as "--shard".
  std::string name() const;
  /// After parsing: whether the command line has it.
  bool is_given() const;

 private:
  CLI::Option* option_;
};

/// The options of a command. The targets of values must outlive the parse.
class OptionList {
 public:
  explicit OptionList(CLI::App& command) : command_(command) {}

  Option add_option(const std::string& names, std::string& to, const std::string& text);
  Option add_option(const std::string& names, std::optional<std::string>& to,
                    const std::string& text);
  Option add_option(const std::string& names, std::vector<std::string>& to,
                    const std::string& text);
  Option add_option(const std::string& names, double& to, const std::string& text);
  Option add_option(const std::string& names, std::optional<double>& to, const std::string& text);
  Option add_option(const std::string& names, unsigned& to, const std::string& text);
  Option add_option(const std::string& names, std::uint64_t& to, const std::string& text);
  Option add_option(const std::string& names, std::optional<int>& to, const std::string& text);
  /// Calls `take` with the value, or with all values, before the command runs.
  Option add_option_function(const std::string& names,
                             const std::function<void(const std::string&)>& take,
                             const std::string& text);
  Option add_option_function(const std::string& names,
                             const std::function<void(const std::vector<std::string>&)>& take,
                             const std::string& text);
  Option add_flag(const std::string& names, bool& to, const std::string& text);
  /// "--name{default}": takes a value in "--name=value".
  Option add_flag(const std::string& names, std::string& to, const std::string& text);

  /// One that was declared before.
  Option option(const std::string& name) const;

  /// After parsing: a finding for each given option that is neither for this form of `file` nor for
  /// those of other files that the command reads.
  std::vector<Diagnostic> unfit(InputForm form, const std::string& file,
                                const std::vector<InputForm>& others = {}) const;

  /// What help shows below the options.
  void footer(const std::string& text);

 private:
  CLI::App& command_;
};

/// From a function of an option: its value is wrong. The message may name the option.
[[noreturn]] void refuse_option(const std::string& name, const std::string& message);
[[noreturn]] void refuse_option(const std::string& message);

}  // namespace dmlop::app
