// dmlop completion: scripts for shells, made from the command line's own declaration.
#include <memory>

#include "base/output.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "exit_codes.hpp"

namespace dmlop::app {
namespace {

struct CompletedOption {
  std::vector<std::string> names;  // with their dashes; empty for a positional
  std::string description;
  std::vector<std::string> choices;
  bool takes_value;
};

struct CompletedCommand {
  std::string name;
  std::string summary;
  std::vector<CompletedOption> options;
};

CompletedOption completed(const CLI::Option& option) {
  CompletedOption result{
      {}, option.get_description(), choices_of(option), option.get_expected_max() > 0};
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  return result;
}

std::vector<CompletedCommand> completed_commands() {
  CommandLine line;
  std::vector<CompletedCommand> result;
  for (const Command& command : commands()) {
    if (command.hidden) continue;
    CompletedCommand entry{command.name, command.summary, {}};
    for (const CLI::Option* option : line.app.get_subcommand(command.name)->get_options()) {
      entry.options.push_back(completed(*option));
    }
    result.push_back(std::move(entry));
  }
  return result;
}

std::string bash_script(const std::vector<CompletedCommand>& all) {
  std::vector<std::string> names;
  std::string cases;
  for (const CompletedCommand& command : all) {
    names.push_back(command.name);
    std::string words, values;
    for (const CompletedOption& option : command.options) {
      words += (words.empty() ? "" : " ") + join(option.names, " ");
      if (option.names.empty() && !option.choices.empty()) words += " " + join(option.choices, " ");
      if (option.names.empty() || option.choices.empty()) continue;
      values += "        " + join(option.names, "|") + ") COMPREPLY=($(compgen -W \"" +
                join(option.choices, " ") + "\" -- \"$word\")); return ;;\n";
    }
    cases += "    " + command.name + ")\n";
    if (!values.empty()) cases += "      case \"$previous\" in\n" + values + "      esac\n";
    cases += "      COMPREPLY=($(compgen -W \"" + words +
             "\" -- \"$word\") $(compgen -f -- \"$word\")) ;;\n";
  }
  return "# bash completion for dmlop\n_dmlop() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         join(names, " ") +
         " --help --version\" -- \"$word\"))\n    return\n  fi\n"
         "  case \"${COMP_WORDS[1]}\" in\n" +
         cases + "  esac\n}\ncomplete -o filenames -F _dmlop dmlop\n";
}

// Text inside single quotes, where zsh's _arguments also gives brackets and colons a meaning.
std::string escaped(const std::string& text, std::string_view special) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_script(const std::vector<CompletedCommand>& all) {
  std::string described, cases;
  for (const CompletedCommand& command : all) {
    described += "    '" + command.name + ":" + escaped(command.summary, ":") + "'\n";
    cases += "    " + command.name + ")\n      _arguments";
    for (const CompletedOption& option : command.options) {
      const std::string values =
          option.choices.empty() ? "_files" : "(" + join(option.choices, " ") + ")";
      for (const std::string& name : option.names) {
        cases += " \\\n        '*" + name + "[" + escaped(option.description, "[]:") + "]" +
                 (option.takes_value ? ":value:" + values : "") + "'";
      }
      if (option.names.empty())
        cases += " \\\n        '*:" + escaped(option.description, ":") + ":" + values + "'";
    }
    cases += " ;;\n";
  }
  return "#compdef dmlop\n_dmlop() {\n  local -a commands\n  commands=(\n" + described +
         "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
         "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n" +
         cases + "  esac\n}\n_dmlop \"$@\"\n";
}

std::string fish_script(const std::vector<CompletedCommand>& all) {
  std::string script = "# fish completion for dmlop\n";
  for (const CompletedCommand& command : all) {
    script += "complete -c dmlop -n __fish_use_subcommand -f -a " + command.name + " -d '" +
              escaped(command.summary, "") + "'\n";
    for (const CompletedOption& option : command.options) {
      script += "complete -c dmlop -n '__fish_seen_subcommand_from " + command.name + "'";
      for (const std::string& name : option.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.names.empty() && option.takes_value) script += " -r";
      if (!option.choices.empty()) script += " -f -a '" + join(option.choices, " ") + "'";
      script += " -d '" + escaped(option.description, "") + "'\n";
    }
  }
  return script;
}

int print_completion(const std::string& shell) {
  const auto all = completed_commands();
  const std::string script = shell == "bash"  ? bash_script(all)
                             : shell == "zsh" ? zsh_script(all)
                                              : fish_script(all);
  print({Text::verbatim(script)});
  return exit_done;
}

}  // namespace

Action add_completion(CLI::App& command) {
  const auto shell = std::make_shared<std::string>();
  const std::vector<std::string> shells{"bash", "zsh", "fish"};
  CLI::Option* option = command.add_option("SHELL", *shell, "bash, zsh or fish")
                            ->required()
                            ->check(CLI::IsMember(shells));
  set_choices(*option, shells);
  return [shell] { return print_completion(*shell); };
}

}  // namespace dmlop::app
