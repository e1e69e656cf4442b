#include "verbatim.hpp"

#include <string_view>

namespace dmlop::app {
namespace {

constexpr char mark = '\0';  // a character that no argument contains

// No name of a command or option ends with one of these, but values do, with or without "=".
constexpr std::string_view marked_ends = "]}=";

}  // namespace

std::vector<std::string> marked_arguments(int argument_count, const char* const* arguments) {
  std::vector<std::string> marked;
  for (int i = argument_count - 1; i > 0; --i) {
    std::string& argument = marked.emplace_back(arguments[i]);
    if (!argument.empty() && marked_ends.find(argument.back()) != std::string_view::npos)
      argument += mark;
  }
  return marked;
}

std::string without_mark(std::string text) {
  std::erase(text, mark);
  return text;
}

void take_verbatim(CLI::App& command) {
  for (CLI::Option* option : command.get_options()) {
    option->transform(without_mark);
    if (option->get_expected_max() == 1) option->allow_extra_args(false);
  }
}

}  // namespace dmlop::app
