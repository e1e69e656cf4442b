// dmlop explain: what a failure code of DirectML, or a line of ONNX Runtime's log, means.
#include <algorithm>
#include <cctype>
#include <memory>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/suggestion.hpp"
#include "base/text.hpp"
#include "command.hpp"
#include "layer/hresults.hpp"

namespace dmlop::app {
namespace {

struct ExplainOptions {
  std::vector<std::string> text;
};

void print_explanation(const std::string& title, const std::string& meaning,
                       const std::string& help) {
  print({title, "\n  ", meaning, "\n"});
  if (!help.empty()) print({"  help: ", help, "\n"});
}

void explain_code(std::uint32_t code) {
  const layer::HResult* known = layer::find_hresult(code);
  if (known != nullptr)
    return print_explanation(layer::name_of_hresult(code), std::string(known->meaning),
                             std::string(known->help));
  constexpr std::uint32_t facility_bits = 0x1FFF, code_bits = 0xFFFF;
  print_explanation(layer::name_of_hresult(code),
                    "A failure of facility " + std::to_string(code >> 16 & facility_bits) +
                        " with code " + std::to_string(code & code_bits) +
                        "; neither DirectML nor ONNX Runtime is known for it.",
                    "");
}

bool is_word(const std::string& argument) {
  return std::ranges::all_of(argument, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

bool names_failure(const std::string& argument) {
  const layer::FailureText read = layer::read_failure_text(argument);
  return !read.codes.empty() || !read.lines.empty();
}

// A text may have any words beside a code, but what is given as a code must be one.
void refuse_unknown_codes(const std::vector<std::string>& arguments) {
  const auto looks_like_code = [](const std::string& word) {
    return word.starts_with("E_") || word.starts_with("DXGI_") || word.starts_with("D3D12_");
  };
  const bool are_two = arguments.size() == 2 && is_word(arguments[0]) && is_word(arguments[1]) &&
                       names_failure(arguments[0]);
  for (const std::string& argument : arguments) {
    const bool is_code = is_word(argument) && (looks_like_code(argument) || are_two);
    if (!is_code || names_failure(argument)) continue;
    std::vector<std::string> names;
    for (const layer::HResult& known : layer::known_hresults()) names.emplace_back(known.name);
    const std::string nearest = did_you_mean(argument, names);
    throw Error(ErrorKind::usage,
                "\"" + argument + "\" is not a known failure code; " +
                    (nearest.empty() ? "write its number, such as 80070057" : nearest));
  }
}

int explain(const ExplainOptions& options) {
  refuse_unknown_codes(options.text);
  const layer::FailureText read = layer::read_failure_text(join(options.text, " "));
  if (read.codes.empty() && read.lines.empty())
    throw Error(ErrorKind::usage,
                "there is no failure code in this text, and no line of ONNX Runtime's DirectML "
                "provider; write a code such as 80070057, or paste the whole line of the log");
  for (const layer::SourceLine& line : read.lines) {
    const std::string number = line.line == 0 ? "" : "(" + std::to_string(line.line) + ")";
    print_explanation(line.file + number, layer::meaning_of(line), layer::help_for(line));
  }
  for (const std::uint32_t code : read.codes) explain_code(code);
  return exit_done;
}

}  // namespace

Action add_explain(OptionList& command) {
  const auto options = std::make_shared<ExplainOptions>();
  command
      .add_option(
          "CODE", options->text,
          "A code (80070057, E_INVALIDARG), or a text that has one or Windows' words for it")
      .required();
  return [options] { return explain(*options); };
}

}  // namespace dmlop::app
