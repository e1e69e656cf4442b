// dmlop help: the most common commands, and the examples of a command.
#include "help.hpp"

#include <memory>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "examples.hpp"
#include "usage.hpp"

namespace dmlop::app {
namespace {

constexpr const char* what_people_do =
    "# Run an operator: op.json says which, and names the input's file\n"
    "dmlop run samples/padding/op.json -o padded.npy\n"
    "# See what a file holds\n"
    "dmlop inspect padded.npy\n"
    "# Run an operator without a description, and see the output\n"
    "dmlop run PADDING -i samples/padding/InputTensor.npy --set PaddingMode=EDGE "
    "--set StartPadding=0,0,1,2 --set EndPadding=0,0,3,4\n"
    "# Compare the output with the golden file beside op.json; exit code 1 where it differs\n"
    "dmlop run samples/lp_pooling --expect\n"
    "# Find mistakes in a description without running it\n"
    "dmlop check samples/slice1/op.json\n"
    "# Run every job below a folder, and report to a CI service\n"
    "dmlop batch samples --cpu --junit results.xml\n"
    "# Look up an operator: its fields, its rules, an example\n"
    "dmlop ops PADDING\n"
    "# Begin a description of your own\n"
    "dmlop ops PADDING --example > op.json";

// Puts comments at the margin and commands below them.
std::string with_margins(const std::string& examples) {
  std::string text = "  ";
  for (const char c : examples_here(examples)) {
    text += c;
    if (c == '\n') text += "  ";
  }
  return text + "\n";
}

const Command* command_named(const std::string& name) {
  for (const Command& command : commands()) {
    if (command.name == name) return &command;
  }
  return nullptr;
}

int print_help(const std::string& name) {
  if (name.empty()) {
    print_overview(StandardStream::output);
    return exit_done;
  }
  const Command* command = command_named(name);
  if (command == nullptr) {
    const WrongUsage usage = unknown_command(name);
    throw Error(ErrorKind::usage, usage.message);
  }
  print({std::string_view(command->summary), "\n\n", Text::lines(with_margins(command->examples)),
         "\n", typed_program(), " ", name, " --help lists all options.\n"});
  return exit_done;
}

}  // namespace

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    if (!command.hidden) names.emplace_back(command.name);
  }
  return names;
}

void print_overview(StandardStream stream) {
  print(stream, {"dmlop runs DirectML operators anywhere: JSON and .npy in, .npy out.\n\n",
                 Text::lines(with_margins(what_people_do)), "\nCommands: ", join(command_names()),
                 "\n", typed_program(), " help COMMAND shows examples, ", typed_program(),
                 " COMMAND --help all options.\n"});
}

Action add_help(OptionList& command) {
  const auto name = std::make_shared<std::string>();
  command.add_option("COMMAND", *name, "The command to show").choices(command_names());
  return [name] { return print_help(*name); };
}

}  // namespace dmlop::app
