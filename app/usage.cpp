#include "usage.hpp"

#include <algorithm>

#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "command_line.hpp"
#include "examples.hpp"
#include "help.hpp"
#include "option_text.hpp"
#include "spec/facts.hpp"
#include "spec/settings.hpp"
#include "verbatim.hpp"

namespace dmlop::app {
namespace {

bool is_command(const std::string& word) {
  const auto has_name = [&](const Command& command) { return command.name == word; };
  return std::any_of(commands().begin(), commands().end(), has_name);
}

bool is_option(const std::string& word) {
  return word.size() > 1 && word.starts_with("-");
}

// "--name" of "--name=value".
std::string option_name(const std::string& word) {
  return without_mark(word.substr(0, word.find('=')));
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (std::string& name : names_of(*option)) names.push_back(std::move(name));
  }
  return names;
}

bool has_option(const CLI::App& command, const std::string& name) {
  const auto names = option_names(command);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The commands that have an option.
std::vector<std::string> commands_with(const std::string& option) {
  CommandLine line;
  std::vector<std::string> found;
  for (const std::string& name : command_names()) {
    if (has_option(*line.app.get_subcommand(name), option)) found.push_back(name);
  }
  return found;
}

std::string with_semicolon(const std::string& text) {
  return text.empty() ? "" : "; " + text;
}

// A short option is one letter away from every other.
std::string nearest_option(const std::string& name, const CLI::App& command) {
  return name.starts_with("--") ? did_you_mean(name, option_names(command)) : "";
}

WrongUsage option_before_command(const std::vector<std::string>& arguments) {
  const std::string name = option_name(arguments.front());
  const auto command = std::find_if(arguments.begin(), arguments.end(), is_command);
  const auto owners = commands_with(name);
  if (owners.empty()) {
    CommandLine line("help");
    return {"unknown option \"" + name + "\"" + with_semicolon(nearest_option(name, line.app)),
            "see dmlop help"};
  }
  const bool is_of_command = command != arguments.end() &&
                             std::find(owners.begin(), owners.end(), *command) != owners.end();
  const std::string owner = is_of_command ? *command : owners.front();
  return {"the option \"" + name + "\" stands before the command",
          "write " + typed_program() + " " + owner + " " + name + " ..."};
}

// What an argument too many is if an option stands in front of it.
std::string option_for(const std::string& argument, const CLI::App& command) {
  const auto advice = [&](const char* option) {
    return std::string("write ") + option + " " + shell_quoted(argument);
  };
  if (argument.ends_with(".npy") && has_option(command, "-i"))
    return advice("-i") + " if it is the file of an input";
  if (parse_setting(argument) && has_option(command, "--set")) return advice("--set");
  return "";
}

// "--format json" for --json, if the command has an option that takes this word.
std::string option_with_value(const std::string& name, const CLI::App& command) {
  const std::string word = name.substr(std::min(name.find_first_not_of('-'), name.size()));
  for (const CLI::Option* option : command.get_options()) {
    const auto choices = choices_of(*option);
    const bool takes_it = std::find(choices.begin(), choices.end(), word) != choices.end();
    if (takes_it && !option->get_positional()) return names_of(*option).back() + " " + word;
  }
  return "";
}

WrongUsage unknown_argument(const CLI::App& program, const CLI::App& command) {
  const auto extras = program.remaining(true);
  const auto option = std::find_if(extras.begin(), extras.end(), is_option);
  const std::string see = "see dmlop " + command.get_name() + " --help";
  if (option == extras.end()) {
    const std::string argument = extras.empty() ? "" : without_mark(extras.front());
    const std::string meant = option_for(argument, command);
    return {"unexpected argument \"" + argument + "\"",
            meant.empty() ? "leave it out, or " + see : meant};
  }
  const std::string name = option_name(*option);
  if (const std::string meant = option_with_value(name, command); !meant.empty())
    return {"unknown option \"" + name + "\"", "write " + meant};
  const std::string nearest = nearest_option(name, command);
  const auto owners = nearest.empty() ? commands_with(name) : std::vector<std::string>();
  if (owners.empty()) return {"unknown option \"" + name + "\"" + with_semicolon(nearest), see};
  return {command.get_name() + " has no option \"" + name + "\"; " + join(owners, ", ") +
              (owners.size() == 1 ? " has it" : " have it"),
          see};
}

// A flag is there or not: CLI11 says only that it cannot convert "--name = value".
std::optional<WrongUsage> value_of_flag(const CLI::App& command, const std::string& message) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_expected_max() > 0) continue;
    for (const std::string& name : names_of(*option)) {
      const std::string beginning = "Could not convert: " + name + " = ";
      if (!message.starts_with(beginning)) continue;
      return WrongUsage{name + " takes no value, but \"" +
                            without_mark(message.substr(beginning.size())) + "\" is given",
                        "write " + name + " alone, or leave it out"};
    }
  }
  return std::nullopt;
}

// " ACTUAL.npy EXPECTED.npy"
std::string required_names(const CLI::App& command) {
  std::string names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional() && option->get_required()) names += " " + option->get_name();
  }
  return names;
}

// What CLI11 says of options that lack a value or exclude each other, with a remedy.
std::optional<WrongUsage> value_missing(const CLI::App& command, const CLI::ParseError& error) {
  const std::string message = error.what();
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr)
    return WrongUsage{message, "keep one of them"};
  const bool is_required = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const bool lacks_value = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;
  for (const CLI::Option* option : command.get_options()) {
    if (is_required && option->get_positional() && message.starts_with(option->get_name() + " "))
      return WrongUsage{message, "write " + typed_program() + " " + command.get_name() +
                                     required_names(command) + ", with your own names"};
    for (const std::string& name : lacks_value ? names_of(*option) : std::vector<std::string>()) {
      if (message.starts_with(name + ":"))
        return WrongUsage{name + " needs a value", "write " + name + " " + value_of(*option)};
    }
  }
  return std::nullopt;
}

}  // namespace

WrongUsage unknown_command(const std::string& word) {
  const std::string message = "unknown command \"" + word + "\"";
  const std::string program = typed_program();
  if (word.ends_with(".json"))
    return {message, "to run a description or a model: " + program + " run " + shell_quoted(word)};
  if (word.ends_with(".npy"))
    return {message, "to see what a file holds: " + program + " inspect " + shell_quoted(word)};
  const auto& operators = known_operators();
  if (std::find(operators.begin(), operators.end(), upper_case(word)) != operators.end())
    return {message, "to look up an operator: " + program + " ops " + upper_case(word)};
  return {message + with_semicolon(did_you_mean(word, command_names())),
          "commands: " + join(command_names()) + "; see dmlop help"};
}

std::optional<WrongUsage> wrong_beginning(const std::vector<std::string>& arguments) {
  const std::string& first = arguments.front();
  if (is_command(first)) return std::nullopt;
  if (!is_option(first)) return unknown_command(first);
  const std::vector<std::string> of_all{"-h", "--help", "--version"};
  if (std::find(of_all.begin(), of_all.end(), first) != of_all.end()) return std::nullopt;
  return option_before_command(arguments);
}

WrongUsage wrong_arguments(const CLI::App& program, const CLI::ParseError& error) {
  const auto chosen = program.get_subcommands();
  const CLI::App& command = chosen.empty() ? program : *chosen.front();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return unknown_argument(program, command);
  if (const auto wrong = value_of_flag(command, error.what())) return *wrong;
  if (const auto wrong = value_missing(command, error)) return *wrong;
  const std::string name = chosen.empty() ? "" : " " + command.get_name();
  return {error.what(), "see dmlop" + name + " --help"};
}

}  // namespace dmlop::app
