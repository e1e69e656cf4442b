#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/escape.hpp"
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
std::string escaped(std::string_view text, bool is_attribute = true) {
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

// The element inside a job's test case; null if the job passed.
const char* element_of(Status status) {
  switch (status) {
    case Status::passed:
      return nullptr;
    case Status::skipped:
      return "skipped";
    case Status::failed:
    case Status::mistrusted:
      return "failure";
    default:
      return "error";
  }
}

std::string test_case(const BatchResult& result) {
  const std::string group = result.operator_name.empty() ? "dmlop" : result.operator_name;
  std::string xml = "    <testcase classname=\"" + escaped(group) + "\" name=\"" +
                    escaped(result.id) + "\" time=\"" + seconds_text(result.seconds) + "\"";
  const char* element = element_of(result.status);
  if (element == nullptr) return xml + "/>\n";
  const std::string name(element);
  xml += ">\n      <" + name + " message=\"" + escaped(result.message) + "\"";
  if (result.status != Status::skipped)
    xml += " type=\"" + std::string(name_of(result.status)) + "\"";
  xml += ">" + escaped(result.details, false);
  if (!result.repeat.empty()) xml += "repeat: " + escaped(result.repeat, false);
  return xml + "</" + name + ">\n    </testcase>\n";
}

std::uint64_t count_of(const StatusCounts& counts, const std::string& element) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const char* name = element_of(static_cast<Status>(i));
    if (name != nullptr && element == name) sum += counts[i];
  }
  return sum;
}

}  // namespace

std::string junit_xml(const BatchReport& report) {
  const BatchSummary& summary = report.summary;
  const std::string counts = " tests=\"" + std::to_string(summary.jobs()) + "\" failures=\"" +
                             std::to_string(count_of(summary.counts, "failure")) + "\" errors=\"" +
                             std::to_string(count_of(summary.counts, "error")) + "\" skipped=\"" +
                             std::to_string(count_of(summary.counts, "skipped")) + "\" time=\"" +
                             seconds_text(summary.seconds) + "\"";
  std::string xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"dmlop\"" +
                    counts + ">\n  <testsuite name=\"" + escaped(report.title) + "\"" + counts +
                    ">\n";
  for (const BatchResult& result : report.results) xml += test_case(result);
  return xml + "  </testsuite>\n</testsuites>\n";
}

}  // namespace dmlop
