// dmlop manual: the man page, generated from the declaration of the command line.
#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"

namespace dmlop::app {
namespace {

// Escapes text so that roff prints it literally.
std::string roff(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (text[i] == '.' || text[i] == '\'')) result += "\\&";
    if (text[i] == '\\') {
      result += "\\e";
    } else if (text[i] == '-') {
      result += "\\-";
    } else {
      result += text[i];
    }
  }
  return result;
}

void print_options(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    const std::string shown = names.empty() ? option->get_name() : join(names);
    const std::string value =
        option->get_expected_max() > 0 && !names.empty() ? " " + option->get_type_name() : "";
    print({".TP\n.B ", roff(shown + value), "\n", roff(option->get_description()), "\n"});
  }
}

int print_manual() {
  CommandLine line;
  print({".TH DMLOP 1 \"\" \"dmlop ", DMLOP_VERSION, "\" \"User Commands\"\n"});
  print({".SH NAME\ndmlop \\- runs DirectML operators anywhere\n"});
  print({".SH SYNOPSIS\n.B dmlop\n.I COMMAND\n[\n.I OPTIONS\n]\n"});
  print(
      {".SH DESCRIPTION\n",
       roff(
           "dmlop reads the description of a DirectML operator (JSON) and its inputs (.npy files), "
           "checks them against the operator's documented constraints and feature levels, runs "
           "the operator, and writes its outputs as .npy files."),
       "\n"});
  print({".SH COMMANDS\n"});
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    print({".SS dmlop ", std::string_view(command.name), "\n", roff(command.summary), "\n"});
    print_options(*line.app.get_subcommand(command.name));
    print({".PP\n.EX\n", Text::lines(roff(command.examples)), "\n.EE\n"});
  }
  print({".SH EXIT STATUS\n"});
  for (const ExitCodeInfo& info : exit_codes) {
    print({".TP\n.B ", static_cast<int>(info.code), "\n", roff(std::string(info.meaning)), "\n"});
  }
  return exit_done;
}

}  // namespace

Action add_manual(CLI::App&) {
  return print_manual;
}

}  // namespace dmlop::app
