// The whole command line, as CLI11 parses it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace dmlop::app {

/// The program's options and those of its commands, with an action for each command in the order of
/// commands(). If it is known which command will run, the options of the others are left out,
/// because declaring them takes time.
struct CommandLine {
  CLI::App app;
  std::vector<Action> actions;
  explicit CommandLine(std::string_view only = "");
};

/// The values of Option::choices; empty for other options.
std::vector<std::string> choices_of(const CLI::Option& option);

}  // namespace dmlop::app
