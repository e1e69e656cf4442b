#include "option_text.hpp"

#include <algorithm>
#include <array>

#include "base/text.hpp"

namespace dmlop::app {
namespace {

constexpr std::size_t name_column = 30;
constexpr std::size_t line_width = 100;

/// Wraps text to lines of at most `width` and indents all but the first.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (column > 0 && column + 1 + word.size() > width - indent) {
      lines += "\n" + std::string(indent, ' ');
      column = 0;
    }
    lines += (column > 0 ? " " : "") + word;
    column += (column > 0 ? 1 : 0) + word.size();
    begin = end + 1;
  }
  return lines;
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool) const override {
    std::string line = "  " + shown(*option);
    if (line.size() + 1 > name_column) {
      line += "\n" + std::string(name_column, ' ');
    } else {
      line.resize(name_column, ' ');
    }
    return line + wrapped(make_option_desc(option), name_column, line_width) + "\n";
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name =
        make_option_name(option, true) + (option->get_expected_max() > 1 ? "..." : "");
    return option->get_required() ? name : "[" + name + "]";
  }
};

}  // namespace

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string value_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::string name =
      type.substr(0, type.find(':'));  // what follows is what the parser checks
  const bool is_flag = option.get_expected_max() == 0;
  return is_flag && !name.starts_with("[=") ? "" : name;
}

std::string shown(const CLI::Option& option) {
  const std::vector<std::string> names = names_of(option);
  if (names.empty()) return option.get_name();
  const std::string value = value_of(option);
  const bool is_attached = value.empty() || value.starts_with("[=");
  return join(names) + (is_attached ? "" : " ") + value;
}

bool takes_file(const CLI::Option& option) {
  const std::string value = option.get_positional() ? option.get_name() : value_of(option);
  constexpr std::array words{"FILE", "FOLDER", ".json", ".npy", "JOBS"};
  return std::any_of(words.begin(), words.end(),
                     [&](const char* word) { return value.find(word) != std::string::npos; });
}

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<HelpFormatter>();
}

}  // namespace dmlop::app
