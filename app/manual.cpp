// dmlop manual: the man page, made from the command line's own declaration.
#include <cstdio>

#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"

namespace dmlop::app {
namespace {

// Text as roff takes it literally.
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
    std::printf(".TP\n.B %s\n%s\n", roff(shown + value).c_str(),
                roff(option->get_description()).c_str());
  }
}

int print_manual() {
  CommandLine line;
  std::printf(".TH DMLOP 1 \"\" \"dmlop %s\" \"User Commands\"\n", DMLOP_VERSION);
  std::printf(".SH NAME\ndmlop \\- runs DirectML operators anywhere\n");
  std::printf(".SH SYNOPSIS\n.B dmlop\n.I COMMAND\n[\n.I OPTIONS\n]\n");
  std::printf(".SH DESCRIPTION\n%s\n",
              roff("A JSON description of a DirectML operator and .npy files go in; they are "
                   "checked against the operator's documented constraints and feature levels; "
                   "the operator runs; .npy files come out.")
                  .c_str());
  std::printf(".SH COMMANDS\n");
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    std::printf(".SS dmlop %s\n%s\n", command.name, roff(command.summary).c_str());
    print_options(*line.app.get_subcommand(command.name));
    std::printf(".PP\n.EX\n%s\n.EE\n", roff(command.examples).c_str());
  }
  std::printf(".SH EXIT STATUS\n");
  for (const ExitCodeInfo& info : exit_codes) {
    std::printf(".TP\n.B %d\n%s\n", info.code, roff(std::string(info.meaning)).c_str());
  }
  return exit_done;
}

}  // namespace

Action add_manual(CLI::App&) {
  return print_manual;
}

}  // namespace dmlop::app
