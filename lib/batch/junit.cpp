#include <array>
#include <cstdio>

#include "batch/reports.hpp"

namespace dmlop {
namespace {

// Text for XML 1.0, which lacks most control characters; in attributes line ends are escaped, too.
std::string escaped(const std::string& text, bool is_attribute = true) {
  std::string xml;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '&') {
      xml += "&amp;";
    } else if (c == '<') {
      xml += "&lt;";
    } else if (c == '>') {
      xml += "&gt;";
    } else if (c == '"') {
      xml += "&quot;";
    } else if (c == '\n' && is_attribute) {
      xml += "&#10;";
    } else if (code < 0x20 && c != '\t' && c != '\n') {
      xml += "\xEF\xBF\xBD";
    } else {
      xml += c;
    }
  }
  return xml;
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.6f", seconds);
  return text.data();
}

// What stands inside the case of a job; null: nothing, it passed.
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
