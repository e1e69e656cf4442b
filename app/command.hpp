// A command of the program, and what commands share. The list of commands is in commands.cpp.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "job/job.hpp"
#include "options.hpp"

namespace dmlop::app {

/// Runs a command whose options were parsed. Returns the exit code.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;
  const char* examples;                // complete command lines, one per line, and # comments
  Action (*add)(OptionList& command);  // declares options, returns what they set in motion
  bool hidden = false;
};

std::span<const Command> commands();

enum class Format { text, json, markdown };

/// Declares --format with text, json and, if `markdown`, markdown. The target must outlive the
/// parse.
/// `contents` says what the output has, where that is not all.
void add_format_option(OptionList& command, Format& format, bool markdown = false,
                       const std::string& contents = "");
/// Declares --feature-level. A name that is not a level is a usage error.
void add_feature_level_option(OptionList& command, std::optional<FeatureLevel>& level,
                              const std::string& description =
                                  "DirectML feature level to check against: 1_0 to 6_4 (default: "
                                  "the description's, else 6_4)");
/// Declares --feature-level, --as and --warnings-as-errors.
void add_checking_options(OptionList& command, Checking& checking);
/// --confine: whether the paths in files are confined, and to which folder.
struct ConfineOption {
  std::string folder;  // "": that of the file
  std::optional<Option> option;

  void add_to(OptionList& command);
  bool is_given() const { return option && option->is_given(); }
  /// Null if the option is not given. `path` is a file or a folder. Errors: usage.
  SharedConfinement confinement(const std::string& path) const;
};
/// parse_file_text() of the command line. Errors: those of refuse_option().
FileText parse_file_argument(const std::string& text, bool is_output = false);
/// "NAME=FILE" or "FILE". Errors: those of refuse_option().
NamedFile parse_named_file(const std::string& text, bool is_output = false);
/// Declares -i NAME=FILE or -o NAME=FILE.
Option add_named_file_option(OptionList& command, const std::string& names,
                             std::vector<NamedFile>& files, const std::string& description);

/// From now on, a signal asks the job to stop instead of ending the program at once.
void stop_jobs_gently();

/// The exit code after an interruption: 128 + the signal's number, as shells do.
int interrupted_exit_code();

/// Prints a document to standard output. Terminals and logs execute nothing in it. Bytes that are
/// not UTF-8 become U+FFFD.
void print_json(const nlohmann::ordered_json& json);

/// {"diagnostics": ...}: findings, and how many more there are than are shown.
nlohmann::ordered_json findings_json(const Diagnostics& diagnostics);

/// A finding as people see it. It begins with its place or, without one, with the program's name.
std::string shown_text(const Diagnostic& finding, std::string_view word = "error");

/// Prints findings, to standard error as text or to standard output as JSON, with the members of
/// `beside`, an object, behind them, and returns the exit code for them.
int report(const Diagnostics& diagnostics, Format format);
int report(const Diagnostics& diagnostics, Format format, const nlohmann::ordered_json& beside);

/// Runs a command's body. If an Error leaves it, prints the error in the requested format.
int report_errors(Format format, const std::function<int()>& body);

Action add_run(OptionList& command);
Action add_check(OptionList& command);
Action add_convert(OptionList& command);
Action add_compare(OptionList& command);
Action add_batch(OptionList& command);
Action add_bench(OptionList& command);
Action add_devices(OptionList& command);
Action add_ops(OptionList& command);
Action add_inspect(OptionList& command);
Action add_layer(OptionList& command);
Action add_explain(OptionList& command);
Action add_schema(OptionList& command);
Action add_completion(OptionList& command);
Action add_complete(OptionList& command);
Action add_help(OptionList& command);
Action add_manual(OptionList& command);

}  // namespace dmlop::app
