#include <algorithm>
#include <utility>

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

std::string annotation(const std::string& level, const std::string& title, const Location& location,
                       const std::string& message) {
  return "::" + level + " title=" + escaped_for_workflow(title, true) + place_properties(location) +
         "::" + escaped_for_workflow(message, false) + "\n";
}

// The runner counts warnings and errors apart.
std::string warning_annotations(const std::vector<BatchResult>& results) {
  std::string text;
  std::size_t count = 0;
  for (const BatchResult& result : results) {
    for (const std::string& warning : result.warnings) {
      if (++count > annotations_max) return text;
      text += annotation("warning", result.id, result.location(), warning);
    }
  }
  return text;
}

// The rows of a table, at most as many as a summary may have.
class Table {
 public:
  explicit Table(std::string head) : head_(std::move(head)) {}

  void add(const std::string& row) {
    if (++count_ <= rows_max) rows_ += row;
  }
  std::string text() const {
    if (count_ == 0) return "";
    const std::string more =
        count_ <= rows_max ? ""
                           : "\n" + std::to_string(count_ - rows_max) + " more are not listed.\n";
    return "\n" + head_ + rows_ + more;
  }

 private:
  std::string head_;
  std::string rows_;
  std::size_t count_ = 0;
};

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
    text += annotation("error", title, location, message);
  }
  return text + warning_annotations(results);
}

std::string github_step_summary(const BatchReport& report) {
  Table wrong("| job | status | why |\n|---|---|---|\n");
  Table warnings("| job | warning |\n|---|---|\n");
  for (const BatchResult& result : report.results) {
    const std::string job = "| " + code(result.id) + " | ";
    if (!result.is_good())
      wrong.add(job + std::string(name_of(result.status)) + " | " + code(result.message) + " |\n");
    for (const std::string& warning : result.warnings) warnings.add(job + code(warning) + " |\n");
  }
  return "### dmlop: " + code(report.title) + "\n\n" + counts_text(report.summary.counts) +
         warnings_text(report.summary) + " in " + rounded(report.summary.seconds) + " s on " +
         code(report.summary.device) + "\n" + wrong.text() + warnings.text();
}

}  // namespace dmlop
