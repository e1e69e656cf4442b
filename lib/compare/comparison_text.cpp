#include "compare/comparison_text.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/caller.hpp"
#include "base/text.hpp"
#include "compare/advice.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

using Row = std::vector<std::string>;

Row row_of(const Comparison& comparison, const ElementDifference& difference) {
  const Deviation& deviation = difference.deviation;
  const auto number = [&](const std::string& text) { return deviation.comparable ? text : "-"; };
  return {list_of(indices_of(difference.index, comparison.sizes)),
          std::to_string(difference.byte_offset),
          value_text(comparison, difference.actual),
          bits_text(comparison, difference.actual),
          value_text(comparison, difference.expected),
          bits_text(comparison, difference.expected),
          number(rounded(deviation.absolute)),
          number(rounded(deviation.relative)),
          number(std::to_string(deviation.ulp))};
}

std::string table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "   ";
    for (std::size_t i = 0; i < row.size(); ++i)
      line += " " + row[i] + std::string(widths[i] - row[i].size() + 1, ' ');
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string elements_text(const Comparison& comparison, const std::string& title,
                          const std::vector<ElementDifference>& differences) {
  if (differences.empty()) return "";
  std::vector<Row> rows{
      {"index", "byte", "actual", "bits", "expected", "bits", "absolute", "relative", "ULP"}};
  for (const auto& difference : differences) rows.push_back(row_of(comparison, difference));
  return "  " + title + ":\n" + table(rows);
}

std::string histogram_text(const Comparison& comparison) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < comparison.histogram.size(); ++i) {
    if (comparison.histogram[i] == 0) continue;
    parts.push_back(ulp_range_text(i) + ": " + std::to_string(comparison.histogram[i]));
  }
  if (comparison.nan_mismatches > 0)
    parts.push_back("NaN: " + std::to_string(comparison.nan_mismatches));
  return "  elements by ULP: " + join(parts) + "\n";
}

}  // namespace

std::string value_text(const Comparison& comparison, const std::array<std::byte, 8>& element) {
  return element_text(comparison.data_type, element.data());
}

std::string bits_text(const Comparison& comparison, const std::array<std::byte, 8>& element) {
  std::uint64_t bits = 0;
  const std::size_t size = size_of(comparison.data_type);
  std::memcpy(&bits, element.data(), size);
  std::array<char, 24> text;
  std::snprintf(text.data(), text.size(), "0x%0*llx", static_cast<int>(2 * size),
                static_cast<unsigned long long>(bits));
  return text.data();
}

std::string smallest_tolerances_text(const SmallestTolerances& smallest) {
  std::vector<std::string> parts;
  if (smallest.rtol) parts.push_back(option_text("--rtol", shortest_text(*smallest.rtol)));
  if (smallest.atol) parts.push_back(option_text("--atol", shortest_text(*smallest.atol)));
  if (smallest.ulp) parts.push_back(option_text("--ulp", std::to_string(*smallest.ulp)));
  if (parts.size() < 2) return join(parts);
  const std::string last = parts.back();
  parts.pop_back();
  return join(parts) + " or " + last;
}

std::vector<std::string> difference_lines(const Comparison& comparison) {
  std::vector<std::string> lines;
  // A single element has a line of its own in every text.
  if (comparison.mismatches > 1) {
    const std::string where = to_text(comparison.region, comparison.sizes, comparison.mismatches);
    if (!where.empty()) lines.push_back("where: " + where);
  }
  if (!comparison.relation.empty()) lines.push_back("relation: " + comparison.relation);
  if (!comparison.remedy.empty()) lines.push_back("help: " + comparison.remedy);
  return lines;
}

std::string advice_text(const Comparison& comparison, const std::string& would) {
  const SmallestTolerances& smallest = comparison.smallest;
  if (!smallest.rtol && !smallest.atol && !smallest.ulp) return "no tolerance " + would;
  const std::string advised = smallest_tolerances_text(advised_tolerances(comparison));
  return advised.empty() ? "the differences are too large for a tolerance"
                         : would + " with " + advised;
}

std::string to_text(const Comparison& comparison) {
  std::string text = "  tolerance: " + to_text(comparison.tolerance);
  if (!comparison.tolerance.origin.empty()) text += " (" + comparison.tolerance.origin + ")";
  text += "\n";
  for (const std::string& line : difference_lines(comparison)) text += "  " + line + "\n";
  if (comparison.worst.empty() && comparison.mismatches == 0) return text;
  text += elements_text(comparison, "first mismatches", comparison.first);
  text += elements_text(comparison, "largest differences", comparison.worst);
  text += histogram_text(comparison);
  if (comparison.mismatches == 0) return text;
  return text + "  " + advice_text(comparison) + "\n";
}

}  // namespace dmlop
