// The differences from DirectML that users read about (specs/differences.json), against what the
// tests know: every exception belongs to a difference that names its operator, and every difference
// has an exception, a spec that says so, or a test of its own.
#include "spec/differences.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "spec/spec.hpp"

namespace {

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
       std::filesystem::recursive_directory_iterator(DMLOP_SOURCE_DIR "/tests")) {
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
  for (const dmlop::Difference& row : dmlop::differences()) {
    if (row.name == "dimensions and types of one tensor") continue;  // the next test's
    CHECK_MESSAGE(shown.contains(row.name), row.name << ": nothing shows this difference");
  }
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
