#include <algorithm>

#include "base/text.hpp"
#include "batch/reports.hpp"

namespace dmlop {
namespace {

constexpr std::size_t annotations_max = 10;  // as many as GitHub shows for a step
constexpr std::size_t rows_max = 50;

// Every line without anything that a terminal or the runner would execute.
std::string safe_lines(const std::string& text) {
  std::string safe;
  for (std::string_view rest = text;;) {
    const std::size_t end = std::min(rest.find_first_of("\r\n"), rest.size());
    safe += one_line(rest.substr(0, end));
    if (end == rest.size()) return safe;
    safe += rest[end];
    rest.remove_prefix(end + 1);
  }
}

// Workflow commands end at a line end; their properties also end at commas and colons.
std::string escaped_for_workflow(const std::string& text, bool is_property) {
  std::string command;
  for (const char c : safe_lines(text)) {
    if (c == '%') {
      command += "%25";
    } else if (c == '\n') {
      command += "%0A";
    } else if (c == '\r') {
      command += "%0D";
    } else if (is_property && c == ',') {
      command += "%2C";
    } else if (is_property && c == ':') {
      command += "%3A";
    } else {
      command += c;
    }
  }
  return command;
}

std::string place_properties(const Location& location) {
  return ",file=" + escaped_for_workflow(location.file, true) +
         ",line=" + std::to_string(location.line) + ",col=" + std::to_string(location.column);
}

// Formats text as code, which has no markup, links, mentions or formulas. It also works in a
// table's cell.
std::string code(const std::string& text) {
  if (text.empty()) return "";
  std::string shown;
  std::size_t backticks = 0, backticks_max = 0;
  for (const char c : safe_lines(text)) {
    backticks = c == '`' ? backticks + 1 : 0;
    backticks_max = std::max(backticks_max, backticks);
    if (c == '|') {
      // In a table, | is escaped as \|. After a backslash that would end the cell, so it becomes
      // \u007c.
      shown += shown.ends_with('\\') ? "\\u007c" : "\\|";
    } else {
      shown += c == '\n' || c == '\r' ? ' ' : c;
    }
  }
  const std::string marks(backticks_max + 1, '`');
  return marks + " " + shown + " " + marks;  // one blank on each side belongs to the marks
}

}  // namespace

std::string github_annotations(const std::vector<BatchResult>& results) {
  std::string text;
  std::size_t count = 0;
  for (const BatchResult& result : results) {
    if (result.is_good()) continue;
    if (++count > annotations_max) break;
    const std::string title = std::string(name_of(result.status)) + " " + result.id;
    const Location location = result.wrong.file.empty() ? result.location() : result.wrong;
    const std::string message = result.message + "\n" + result.brief;
    text += "::error title=" + escaped_for_workflow(title, true) + place_properties(location) +
            "::" + escaped_for_workflow(message, false) + "\n";
  }
  return text;
}

std::string github_step_summary(const BatchReport& report) {
  std::string text = "### dmlop: " + code(report.title) + "\n\n" +
                     counts_text(report.summary.counts) + " in " + rounded(report.summary.seconds) +
                     " s on " + code(report.summary.device) + "\n";
  std::size_t rows = 0, wrong = 0;
  for (const BatchResult& result : report.results) {
    if (result.is_good() || ++wrong > rows_max) continue;
    if (rows++ == 0) text += "\n| job | status | why |\n|---|---|---|\n";
    text += "| " + code(result.id) + " | " + std::string(name_of(result.status)) + " | " +
            code(result.message) + " |\n";
  }
  if (wrong > rows_max) text += "\n" + std::to_string(wrong - rows_max) + " more are not listed.\n";
  return text;
}

}  // namespace dmlop
