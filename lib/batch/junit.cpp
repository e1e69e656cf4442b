#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/escape.hpp"
#include "base/text.hpp"
#include "batch/reports.hpp"

namespace dmlop {
namespace {

// Some CI systems print the file line by line.
std::string shown(std::string_view line, bool is_attribute) {
  using Place = LineEscaper::Place;
  LineEscaper escaper(is_attribute ? Place::within_line : Place::start_of_line);
  std::string text;
  while (!line.empty()) text += escaper.next(line);
  return text;
}

// Escapes text for XML, and as for a line of a log. Attributes keep line ends as references.
std::string escaped_for_xml(std::string_view text, bool is_attribute = true) {
  std::string xml;
  while (!text.empty()) {
    const std::size_t line_end = std::min(text.find('\n'), text.size());
    for (const char c : shown(text.substr(0, line_end), is_attribute)) {
      if (c == '&') {
        xml += "&amp;";
      } else if (c == '<') {
        xml += "&lt;";
      } else if (c == '>') {
        xml += "&gt;";
      } else if (c == '"') {
        xml += "&quot;";
      } else {
        xml += c;
      }
    }
    text.remove_prefix(line_end);
    if (text.empty()) break;
    xml += is_attribute ? "&#10;" : "\n";
    text.remove_prefix(1);
  }
  return xml;
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6f", seconds);
  return text.data();
}

// What stands inside the case of a job; null: nothing.
constexpr const char* element_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return nullptr;
    case Outcome::skipped:
      return "skipped";
    case Outcome::failure:
      return "failure";
    case Outcome::error:
      break;
  }
  return "error";
}

// Systems know a test again by its class and name: both are the id's alone, whatever becomes of the
// job.
std::string class_of(const std::string& id) {
  const std::size_t slash = id.rfind('/');
  return slash == std::string::npos ? "dmlop" : id.substr(0, slash);
}

// CTest and pytest, too, put there what a test said, whether it passed or not.
std::string system_out(const BatchResult& result) {
  if (result.warnings.empty()) return "";
  const std::string text = join(result.warnings, "\n");
  return "      <system-out>" + escaped_for_xml(text, false) + "\n</system-out>\n";
}

// What became of a job that did not pass; "" for one that did.
std::string ending_element(const BatchResult& result) {
  const char* element = element_of(result.outcome());
  if (element == nullptr) return "";
  const std::string name(element);
  std::string xml = "      <" + name + " message=\"" + escaped_for_xml(result.message) + "\"";
  if (result.status != Status::skipped)
    xml += " type=\"" + std::string(name_of(result.status)) + "\"";
  xml += ">" + escaped_for_xml(result.details, false);
  if (!result.repeat.empty()) xml += "repeat: " + escaped_for_xml(result.repeat, false);
  return xml + "</" + name + ">\n";
}

std::string test_case(const BatchResult& result) {
  const Location location = result.location();
  const std::string xml =
      "    <testcase classname=\"" + escaped_for_xml(class_of(result.id)) + "\" name=\"" +
      escaped_for_xml(result.id) + "\" file=\"" + escaped_for_xml(location.file) + "\" line=\"" +
      std::to_string(location.line) + "\" time=\"" + seconds_text(result.seconds) + "\"";
  const std::string inside = ending_element(result) + system_out(result);
  return xml + (inside.empty() ? "/>\n" : ">\n" + inside + "    </testcase>\n");
}

std::string count_text(const BatchReport& report, Outcome outcome) {
  return std::to_string(
      std::count_if(report.results.begin(), report.results.end(),
                    [&](const BatchResult& result) { return result.outcome() == outcome; }));
}

}  // namespace

std::string junit_xml(const BatchReport& report) {
  const BatchSummary& summary = report.summary;
  const std::string counts = " tests=\"" + std::to_string(report.results.size()) +
                             "\" failures=\"" + count_text(report, Outcome::failure) +
                             "\" errors=\"" + count_text(report, Outcome::error) + "\" skipped=\"" +
                             count_text(report, Outcome::skipped) + "\" time=\"" +
                             seconds_text(summary.seconds) + "\"";
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dmlop\"" +
                    counts + ">\n  <testsuite name=\"" + escaped_for_xml(report.title) + "\"" +
                    counts + ">\n";
  for (const BatchResult& result : report.results) xml += test_case(result);
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace dmlop
