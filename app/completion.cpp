// dmlop completion: scripts for shells, made from the command line's own declaration.
#include <memory>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "command_line.hpp"
#include "option_text.hpp"
#include "spec/fields_reader.hpp"

namespace dmlop::app {
namespace {

struct CompletedOption {
  std::vector<std::string> names;  // with their dashes; empty for a positional
  std::string description;
  std::vector<std::string> choices;
  bool takes_value;
  bool takes_file;
  std::string tensors;  // what the names before "=" are: "inputs", "outputs" or ""
};

struct CompletedCommand {
  std::string name;
  std::string summary;
  std::vector<CompletedOption> options;
};

CompletedOption completed(const CLI::Option& option) {
  CompletedOption result{names_of(option),   option.get_description(),
                         choices_of(option), option.get_expected_max() > 0,
                         takes_file(option), ""};
  if (value_of(option).find("[NAME=]") != std::string::npos)
    result.tensors = option.check_name("-i") ? "inputs" : "outputs";
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

// What bash runs to offer the values of an option or of a positional.
std::string bash_values(const CompletedOption& option) {
  std::string commands;
  if (!option.choices.empty()) commands += " _dmlop_words '" + join(option.choices, " ") + "';";
  if (!option.tensors.empty()) commands += " _dmlop_tensors " + option.tensors + ";";
  if (option.takes_file) commands += " _dmlop_files;";
  return commands;
}

// bash takes "=" for a word of its own, in NAME=FILE and in --option=VALUE.
constexpr const char* bash_helpers = R"sh(# bash completion for dmlop
_dmlop_words() { COMPREPLY+=($(compgen -W "$1" -- "$word")); }
_dmlop_files() { COMPREPLY+=($(compgen -f -- "$word")); }
_dmlop_tensors() {
  local each
  for each in "${COMP_WORDS[@]:2}"; do
    case "$each" in
      *.json|[A-Z]*[A-Z]) _dmlop_words "$("$program" complete "$1" "$each" 2>/dev/null)" ;;
    esac
  done
  [ "${#COMPREPLY[@]}" -gt 0 ] && compopt -o nospace 2>/dev/null
}
_dmlop() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then _dmlop_words "$_dmlop_commands --help --version"; return; fi
  if [ "$word" = = ] || [ "$previous" = = ]; then
    [ "$word" = = ] && word= || previous=${COMP_WORDS[COMP_CWORD-2]}
    case "$previous" in -*) ;; *) _dmlop_files; return ;; esac
  fi
  case "${COMP_WORDS[1]} $previous" in
)sh";

std::string bash_script(const std::vector<CompletedCommand>& all) {
  std::vector<std::string> names;
  std::string after_options, elsewhere;
  for (const CompletedCommand& command : all) {
    names.push_back(command.name);
    std::vector<std::string> words;
    std::string positionals;
    for (const CompletedOption& option : command.options) {
      words.insert(words.end(), option.names.begin(), option.names.end());
      if (option.names.empty()) positionals += bash_values(option);
      if (option.names.empty() || !option.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : option.names)
        patterns.push_back("'" + command.name + " " + name + "'");
      after_options += "    " + join(patterns, "|") + ")" + bash_values(option) + " return ;;\n";
    }
    elsewhere += "    " + command.name + ")\n      case \"$word\" in\n        -*) _dmlop_words '" +
                 join(words, " ") + "' ;;\n        *)" + positionals + " ;;\n      esac ;;\n";
  }
  return "_dmlop_commands='" + join(names, " ") + "'\n" + bash_helpers + after_options +
         "  esac\n  case \"${COMP_WORDS[1]}\" in\n" + elsewhere +
         "  esac\n}\ncomplete -o filenames -F _dmlop dmlop\n";
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
      const std::string values = !option.choices.empty() ? "(" + join(option.choices, " ") + ")"
                                 : option.takes_file     ? "_files"
                                                         : " ";
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
  std::string script = "# fish completion for dmlop\ncomplete -c dmlop -f\n";
  for (const CompletedCommand& command : all) {
    script += "complete -c dmlop -n __fish_use_subcommand -f -a " + command.name + " -d '" +
              escaped(command.summary, "") + "'\n";
    for (const CompletedOption& option : command.options) {
      script += "complete -c dmlop -n '__fish_seen_subcommand_from " + command.name + "'";
      for (const std::string& name : option.names) {
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.names.empty() && option.takes_value)
        script += option.takes_file ? " -r -F" : " -x";
      if (option.names.empty() && option.takes_file) script += " -F";
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

// Tensors of an operator, or of that of a description, as NAME=. Who completes wants no errors.
int print_tensors(const std::string& kind, const std::string& name) {
  std::string type = name;
  try {
    Diagnostics ignored;
    if (name.ends_with(".json")) {
      const auto document = json::Document::parse(name, json::read_text(name), ignored);
      const json::Value* value = document ? find_either(document->root(), "type", "Type") : nullptr;
      type = value != nullptr ? value->text : "";
    }
  } catch (const Error&) {
    type = "";
  }
  constexpr std::string_view prefix = "DML_OPERATOR_";
  if (type.starts_with(prefix)) type.erase(0, prefix.size());
  const OperatorSpec* spec = find_spec(type);
  if (spec == nullptr) return exit_done;
  for (const FieldSpec& field : spec->fields) {
    if (kind == "inputs" ? field.is_input() : field.is_output()) print({field.name, "=\n"});
  }
  return exit_done;
}

}  // namespace

Action add_complete(OptionList& command) {
  const auto kind = std::make_shared<std::string>(), name = std::make_shared<std::string>();
  command.add_option("KIND", *kind, "inputs or outputs").required();
  command.add_option("OP.json", *name, "The description, or the operator").required();
  return [kind, name] { return print_tensors(*kind, *name); };
}

Action add_completion(OptionList& command) {
  const auto shell = std::make_shared<std::string>();
  const std::vector<std::string> shells{"bash", "zsh", "fish"};
  command.add_option("SHELL", *shell, "bash, zsh or fish")
      .required()
      .one_of(shells)
      .choices(shells);
  return [shell] { return print_completion(*shell); };
}

}  // namespace dmlop::app
