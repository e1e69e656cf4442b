// What a wrong command line says: what is wrong, and what to type instead.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace dmlop::app {

struct WrongUsage {
  std::string message;
  std::string help;
};

/// A name that is no command. A file or an operator is told the command that takes it.
WrongUsage unknown_command(const std::string& word);

/// What is wrong with the first argument; nothing where it is a command, or an option of all.
std::optional<WrongUsage> wrong_beginning(const std::vector<std::string>& arguments);

/// What the parser found in the arguments of a command.
WrongUsage wrong_arguments(const CLI::App& program, const CLI::ParseError& error);

}  // namespace dmlop::app
