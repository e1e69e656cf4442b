#include "refusal.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/diagnostic.hpp"
#include "ops/operator.hpp"
#include "spec/description.hpp"

namespace dmlop::test {
namespace {

constexpr char mark = '^';

std::string found_in(const std::string& text, const std::string& level) {
  Diagnostics diagnostics;
  const auto feature_level = feature_level_named(level);
  REQUIRE(feature_level.has_value());
  auto description = read_description("op.json", text, feature_level, diagnostics);
  if (description) check_description(*description, diagnostics);
  sort_by_position(diagnostics);
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics) all += to_text(diagnostic) + "\n";
  return all;
}

/// `unmarked` is where findings without a mark are.
void check_row(const std::string& marked, const Refused& row, std::size_t unmarked) {
  std::string text;
  std::vector<std::size_t> places;
  for (const char c : marked) {
    if (c == mark) places.push_back(text.size());
    if (c != mark) text += c;
  }
  REQUIRE(places.size() <= row.findings.size());
  places.insert(places.begin(), row.findings.size() - places.size(), unmarked);
  std::string expected;
  for (std::size_t i = 0; i < row.findings.size(); ++i) {
    expected += "op.json:" + place_of(text, places[i]) + ": error: " + row.findings[i] + "\n";
  }
  CAPTURE(text);
  CHECK(found_in(text, row.level) == expected);
}

}  // namespace

std::string place_of(const std::string& text, std::size_t offset) {
  const std::string before = text.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin =
      before.rfind('\n') == std::string::npos ? 0 : before.rfind('\n') + 1;
  return std::to_string(line) + ":" + std::to_string(offset - line_begin + 1);
}

void check_refused(const std::string& operator_name, const std::vector<Refused>& rows) {
  const std::string before = "{\"type\": \"" + operator_name + "\", \"desc\": {";
  for (const Refused& row : rows) check_row(before + row.fields + "}}", row, before.size() - 1);
}

void check_refused_texts(const std::vector<Refused>& rows) {
  for (const Refused& row : rows) check_row(row.fields, row, 0);
}

}  // namespace dmlop::test
