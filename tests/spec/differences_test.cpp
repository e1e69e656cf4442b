// The differences from DirectML that users read about (specs/differences.json), against what the
// tests know: every exception belongs to a difference that names its operator, and every difference
// is shown by recorded cases, by a description that is valid for one of the two, or by a test.
#include "spec/differences.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "described.hpp"
#include "paths.hpp"
#include "spec/spec.hpp"

namespace dmlop::differences_test {
namespace {

using Json = nlohmann::ordered_json;

using dmlop::test::check_desc;

/// What shows a difference, and its name.
struct Evidence {
  const char*
      what;  // begins with the operator, which a mark follows: "REDUCE/012", "TILE.InputTensor"
  const char* difference;
  const char* elements = "";  // of a recorded case
};

constexpr Evidence exceptions[] = {
#include "../operators/golden_denormals.inc"
#include "../operators/golden_exceptions.inc"
#include "golden_descriptions_verdicts.inc"
#include "spec_exceptions.inc"
#include "type_matrix_exceptions.inc"
};

/// Differences that a test shows, by how its name begins, or the name of what a test allows.
constexpr Evidence tests[] = {
#include "difference_tests.inc"
};

/// Reasons.
constexpr std::string_view refusal = "An error is better than a result that nobody asked for.";
constexpr std::string_view contradiction =
    "The page contradicts itself or DirectML.h; DirectML decides.";

/// A description whose verdict shows a difference.
struct Verdict {
  const char* difference;
  const char* operator_name;
  const char* fields;
  const char* finding;  // how it begins; "": dmlop accepts the description
  bool directml_accepts;
};

constexpr Verdict verdicts[] = {
#include "difference_verdicts.inc"
};

std::string operator_of(std::string_view what) {
  return std::string(what.substr(0, what.find_first_of("/. ")));
}

const dmlop::Difference* find_difference(std::string_view name) {
  const auto& all = dmlop::differences();
  const auto found = std::ranges::find(all, name, &dmlop::Difference::name);
  return found == all.end() ? nullptr : &*found;
}

std::string texts_of_tests() {
  std::ostringstream texts;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(test::source_path("tests"))) {
    if (entry.path().string().ends_with("_test.cpp")) texts << std::ifstream(entry.path()).rdbuf();
  }
  return texts.str();
}

/// Whether DirectML accepts something else than the page.
bool accepts_something_else(const dmlop::OperatorSpec& spec) {
  return !spec.support_directml.empty() ||
         std::ranges::any_of(
             spec.rules, [](const dmlop::Rule& rule) { return rule.by != dmlop::Authority::both; });
}

}  // namespace

TEST_CASE("differences: each has a name of its own, known operators and a text of sentences") {
  std::set<std::string> names;
  for (const dmlop::Difference& row : dmlop::differences()) {
    CAPTURE(row.name);
    CHECK(names.insert(row.name).second);
    CHECK(row.text.ends_with("."));
    CHECK(row.reason.ends_with("."));
    for (const std::string& name : row.operators) CHECK(dmlop::find_spec(name) != nullptr);
  }
  CHECK(names.size() >= 40);
}

TEST_CASE("differences: every exception of a test has a line for users, which names its operator") {
  for (const auto& [what, name, elements] : exceptions) {
    if (name == std::string("none")) continue;
    CAPTURE(std::string(what));
    CAPTURE(std::string(name));
    const dmlop::Difference* row = find_difference(name);
    REQUIRE(row != nullptr);
    const bool is_of_all = row->operators.empty();
    CHECK((is_of_all ||
           std::ranges::find(row->operators, operator_of(what)) != row->operators.end()));
  }
}

TEST_CASE("differences: every line for users has an exception, or a test of its own") {
  std::set<std::string> shown;
  for (const Evidence& one : exceptions) shown.insert(one.difference);
  const std::string sources = texts_of_tests();
  for (const auto& [title, name, elements] : tests) {
    CAPTURE(std::string(title));
    CHECK(find_difference(name) != nullptr);
    CHECK(sources.find("\"" + std::string(title)) != std::string::npos);
    shown.insert(name);
  }
  for (const Verdict& one : verdicts) shown.insert(one.difference);
  for (const dmlop::Difference& row : dmlop::differences()) {
    CHECK_MESSAGE(shown.contains(row.name), row.name << ": nothing shows this difference");
  }
}

TEST_CASE("differences: a description that dmlop and DirectML, or its page, judge differently") {
  for (const auto& [difference, operator_name, fields, finding, directml_accepts] : verdicts) {
    CAPTURE(std::string(difference));
    CAPTURE(std::string(operator_name));
    const dmlop::Difference* row = find_difference(difference);
    REQUIRE(row != nullptr);
    CHECK(std::ranges::find(row->operators, operator_name) != row->operators.end());
    const auto desc = Json::parse(fields);
    const auto found = check_desc(operator_name, desc).diagnostics;
    const std::string said = found.empty() ? "" : found.front().message;
    CHECK_MESSAGE((said.empty() ? *finding == '\0' : said.starts_with(finding)), said);
    // Against a page that contradicts itself, dmlop has DirectML's verdict.
    CHECK((row->reason == contradiction) == (said.empty() == directml_accepts));
    // The specs know DirectML's, too, but for what is refused on purpose.
    if (row->reason == refusal) continue;
    const auto by_directml = check_desc(operator_name, desc, dmlop::Judge::directml).diagnostics;
    CHECK(by_directml.empty() == directml_accepts);
  }
}

TEST_CASE("differences: every refusal on purpose has a description that is refused") {
  std::set<std::string> judged;
  for (const Verdict& one : verdicts) judged.insert(one.difference);
  std::size_t count = 0;
  for (const dmlop::Difference& row : dmlop::differences()) {
    if (row.reason != refusal) continue;
    ++count;
    CHECK_MESSAGE(judged.contains(row.name), row.name);
  }
  CHECK(count >= 2);
}

TEST_CASE("differences: every spec that tells DirectML from the page has a line for users") {
  std::size_t count = 0;
  for (const std::string& name : dmlop::specified_operators()) {
    if (!accepts_something_else(*dmlop::find_spec(name))) continue;
    ++count;
    CHECK_MESSAGE(!dmlop::differences_of(name).empty(), name);
  }
  CHECK(count >= 6);
}

}  // namespace dmlop::differences_test
