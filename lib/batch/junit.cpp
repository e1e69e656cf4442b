#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "batch/reports.hpp"

namespace dmlop {
namespace {

// The length of the character at the start of `text`; 0 where XML 1.0 has none such: bytes that are
// no UTF-8, most control characters, U+FFFE and U+FFFF.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (first < 0xC2 || first > 0xF4) return 0;
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool is_short = code < (length == 2 ? 0x80U : length == 3 ? 0x800U : 0x10000U);
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return is_short || is_surrogate || code == 0xFFFE || code == 0xFFFF || code > 0x10FFFF ? 0
                                                                                         : length;
}

// Text for XML; in attributes line ends are escaped, too.
std::string escaped(std::string_view text, bool is_attribute = true) {
  std::string xml;
  for (std::size_t length = 1; !text.empty();
       text.remove_prefix(std::max(length, std::size_t{1}))) {
    length = character_length(text);
    const char c = text.front();
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
    } else if (length == 0) {
      xml += "\xEF\xBF\xBD";
    } else {
      xml += text.substr(0, length);
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
