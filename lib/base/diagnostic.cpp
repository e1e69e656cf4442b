#include "base/diagnostic.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "base/text.hpp"

namespace dmlop {

std::string to_text(const Diagnostic& diagnostic, std::string_view word) {
  std::string text;
  if (!diagnostic.file.empty()) text += one_line(diagnostic.file) + ":";
  if (diagnostic.line != 0) {
    text += std::to_string(diagnostic.line) + ":" + std::to_string(diagnostic.column) + ":";
  }
  if (!text.empty()) text += " ";
  if (!diagnostic.argument.empty()) text += one_line(diagnostic.argument) + ": ";
  text += std::string(word) + ": " + one_line(diagnostic.message);
  if (!diagnostic.rule.empty()) text += "\n  rule: " + one_line(diagnostic.rule);
  if (!diagnostic.note.empty()) text += "\n  note: " + one_line(diagnostic.note);
  if (!diagnostic.suggestion.empty()) text += "\n  help: " + one_line(diagnostic.suggestion.text());
  if (diagnostic.more != 0)
    text += "\n  and " + std::to_string(diagnostic.more) + " more like this one";
  return text;
}

Diagnostic finding_of(const Error& error, std::string_view context) {
  if (error.kind() == ErrorKind::interrupted) throw error;
  std::string message(context);
  if (!message.empty()) message += ": ";
  return {.kind = error.kind(), .message = message + error.what()};
}

std::uint64_t count_of(const Diagnostics& diagnostics) {
  std::uint64_t count = 0;
  for (const Diagnostic& diagnostic : diagnostics) count += 1 + diagnostic.more;
  return count;
}

void sort_by_position(Diagnostics& diagnostics) {
  const auto place = [](const Diagnostic& d) { return std::tuple(d.line == 0, d.line, d.column); };
  std::stable_sort(diagnostics.begin(), diagnostics.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); });
}

void refuse_warnings(Diagnostics& warnings, Diagnostics& findings) {
  for (Diagnostic& warning : warnings) {
    warning.kind = ErrorKind::invalid_input;
    if (!warning.note.empty()) warning.note += " ";
    warning.note += "With --warnings-as-errors this warning is an error.";
    findings.push_back(std::move(warning));
  }
  warnings.clear();
}

ErrorKind worst_kind(const Diagnostics& diagnostics) {
  constexpr std::array order{ErrorKind::interrupted,   ErrorKind::run_failed,
                             ErrorKind::invalid_input, ErrorKind::io_failed,
                             ErrorKind::unavailable,   ErrorKind::usage};
  for (const ErrorKind kind : order) {
    const auto is_kind = [kind](const Diagnostic& d) { return d.kind == kind; };
    if (std::any_of(diagnostics.begin(), diagnostics.end(), is_kind)) return kind;
  }
  return ErrorKind::invalid_input;
}

}  // namespace dmlop
