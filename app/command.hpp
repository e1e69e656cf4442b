// A command of the program, and what commands share. The list of commands is in commands.cpp.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "base/confine.hpp"
#include "base/diagnostic.hpp"
#include "job/job.hpp"

namespace dmlop::app {

/// Runs a command whose options were parsed. Returns the exit code.
using Action = std::function<int()>;

struct Command {
  const char* name;
  const char* summary;
  const char* examples;              // complete command lines, one per line, and # comments
  Action (*add)(CLI::App& command);  // declares options, returns what they set in motion
  bool hidden = false;
};

std::span<const Command> commands();

/// The whole command line, with an action for each command in the order of commands(). If it is
/// known which command will run, the options of the others are left out, because declaring them
/// takes time.
struct CommandLine {
  CLI::App app;
  std::vector<Action> actions;
  explicit CommandLine(std::string_view only = "");
};

enum class Format { text, json, markdown };

/// Declares --format with text, json and, if `markdown`, markdown. The target must outlive the
/// parse.
void add_format_option(CLI::App& command, Format& format, bool markdown = false);
/// --feature-level; a name that is no level is a usage error.
void add_feature_level_option(
    CLI::App& command, std::optional<FeatureLevel>& level,
    const std::string& description =
        "DirectML feature level to check against: 1_0 to 6_4 (default: the description's, else 6_4)");
/// --as page|directml-1.15.4: who decides what is valid where they disagree.
void add_judge_option(CLI::App& command, Judge& judge);
/// --confine: whether the paths in files are confined, and to which folder.
struct ConfineOption {
  std::string folder;  // "": that of the file
  const CLI::Option* option = nullptr;

  void add_to(CLI::App& command);
  bool is_given() const { return option != nullptr && option->count() > 0; }
  /// Null if the option is not given. `path` is a file or a folder. Errors: usage.
  SharedConfinement confinement(const std::string& path) const;
};
/// "NAME=FILE" or "FILE". Errors: CLI::ValidationError.
NamedFile parse_named_file(const std::string& text);
/// Declares -i NAME=FILE or -o NAME=FILE.
void add_named_file_option(CLI::App& command, const std::string& names,
                           std::vector<NamedFile>& files, const std::string& description);

/// The values that an option accepts, for completion in shells; empty for other options.
std::vector<std::string> choices_of(const CLI::Option& option);
void set_choices(const CLI::Option& option, std::vector<std::string> choices);

/// From now on, a signal asks the job to stop instead of ending the program at once.
void stop_jobs_gently();

/// The exit code after an interruption: 128 + the signal's number, as shells do.
int interrupted_exit_code();

/// Prints a document to standard output. Terminals and logs execute nothing in it. Bytes that are
/// not UTF-8 become U+FFFD.
void print_json(const nlohmann::ordered_json& json);

/// Prints findings, to standard error as text or to standard output as JSON, with the members of
/// `beside` behind them, and returns the exit code for them.
int report(const Diagnostics& diagnostics, Format format,
           const nlohmann::ordered_json& beside = nlohmann::ordered_json::object());

/// Runs a command's body. If an Error leaves it, prints the error in the requested format.
int report_errors(Format format, const std::function<int()>& body);

Action add_run(CLI::App& command);
Action add_check(CLI::App& command);
Action add_convert(CLI::App& command);
Action add_compare(CLI::App& command);
Action add_batch(CLI::App& command);
Action add_bench(CLI::App& command);
Action add_devices(CLI::App& command);
Action add_ops(CLI::App& command);
Action add_inspect(CLI::App& command);
Action add_schema(CLI::App& command);
Action add_completion(CLI::App& command);
Action add_complete(CLI::App& command);
Action add_help(CLI::App& command);
Action add_manual(CLI::App& command);

}  // namespace dmlop::app
