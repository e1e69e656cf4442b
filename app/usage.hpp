// Messages about a wrong command line: what is wrong, and what to type instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace dmlop::app {

struct WrongUsage {
  std::string message;
  std::string help;
};

/// A name that is not a command. For a file or an operator, the message names the command that
/// takes it.
WrongUsage unknown_command(const std::string& word);

/// What is wrong with the first argument; nothing if it is a command or an option of the program
/// itself.
std::optional<WrongUsage> wrong_beginning(const std::vector<std::string>& arguments);

/// Explains what the parser found wrong with the arguments of a command.
WrongUsage wrong_arguments(const CLI::App& program, const CLI::ParseError& error);

}  // namespace dmlop::app
