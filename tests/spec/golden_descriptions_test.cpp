// The specs check the descriptions that DirectML 1.15.4 ran or refused (conformance/README.md):
// those that ran are valid, and the refused ones are not. Each that ran is checked again without
// everything that inference can supply, and must complete to the same description.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "base/text.hpp"
#include "described.hpp"

namespace dmlop::test::golden_descriptions_test {
namespace {

using Json = nlohmann::ordered_json;

struct Exception {
  const char* description;  // "OPERATOR/case"
  const char* difference;   // of specs/differences.json; differences_test.cpp looks it up
};

/// Verdicts that differ from DirectML's on purpose.
constexpr Exception verdicts[] = {
#include "golden_descriptions_verdicts.inc"
};

/// A part of an output that nothing determines: it must be written.
struct Undetermined {
  const char* operator_name;
  const char* part;  // "OutputTensor.DataType"
  const char* reason;
};

constexpr Undetermined undetermined[] = {
#include "golden_descriptions_undetermined.inc"
};

bool is_exception(const std::string& name) {
  const auto is_it = [&](const Exception& exception) { return name == exception.description; };
  return std::any_of(std::begin(verdicts), std::end(verdicts), is_it);
}

Checked check(const Json& row) {
  return check_desc(row.at("type"), row.at("desc"));
}

std::string tensors_text(dmlop::Description& description) {
  std::string text;
  for (const dmlop::TensorUse& use : tensors_of(description)) {
    text += use.name() + " " + std::string(name_of(*use.desc->data_type)) +
            dmlop::list_of(use.desc->sizes) + " ";
  }
  return text;
}

/// The description with outputs and counts left out, but for what nothing determines, of which
/// `without` is left out, too. Optional outputs stay as {}.
Json left_out(const dmlop::OperatorSpec& spec, Json desc, const std::string& without = "") {
  for (const dmlop::FieldSpec& field : spec.fields) {
    if (!desc.contains(field.name)) continue;
    if (spec.is_count(field.name)) desc.erase(field.name);
    if (field.kind != dmlop::FieldKind::output_tensor) continue;
    Json kept = Json::object();
    for (const auto& [operator_name, part, reason] : undetermined) {
      for (const char* attribute : {"DataType", "Sizes"}) {
        const bool is_listed = spec.name == operator_name && field.name + "." + attribute == part;
        if (is_listed && part != without) kept[attribute] = desc.at(field.name).at(attribute);
      }
    }
    desc[field.name] = kept;
    if (kept.empty() && !field.optional) desc.erase(field.name);
  }
  return desc;
}

/// What is wrong with the description when it is completed; "" where it is the original.
std::string difference_of_completed(const Json& row, const std::string& without = "") {
  Checked whole = check(row);
  Checked partial =
      check_desc(row.at("type"), left_out(*whole.description->spec, row.at("desc"), without));
  if (!partial.diagnostics.empty()) return to_text(partial.diagnostics.front());
  const std::string found = tensors_text(*partial.description);
  const std::string expected = tensors_text(*whole.description);
  return found == expected ? "" : found + "instead of " + expected;
}

}  // namespace

TEST_CASE("what DirectML ran is valid, and what it refused is not") {
  CHECK(golden_descriptions().size() == 5360);
  std::set<std::string> operators;
  for (const Json& row : golden_descriptions()) {
    const std::string name = row.at("case");
    operators.insert(name.substr(0, name.find('/')));
    const Checked checked = check(row);
    const bool agrees = checked.diagnostics.empty() == row.at("ran").get<bool>();
    CAPTURE(name);
    for (const auto& diagnostic : checked.diagnostics) CAPTURE(to_text(diagnostic));
    if (is_exception(name)) {
      CHECK_MESSAGE(!agrees, "an exception that is none");
    } else if (!agrees) {
      FAIL_CHECK(row.at("desc").dump());
      for (const auto& diagnostic : checked.diagnostics) MESSAGE(to_text(diagnostic));
    }
  }
  CHECK(operators.size() == 177);
}

TEST_CASE("with DirectML as the judge, all of its verdicts are the same") {
  for (const Json& row : golden_descriptions()) {
    const std::string name = row.at("case");
    const Checked checked = check_desc(row.at("type"), row.at("desc"), dmlop::Judge::directml);
    CAPTURE(name);
    for (const auto& diagnostic : checked.diagnostics) CAPTURE(to_text(diagnostic));
    CHECK(checked.diagnostics.empty() == row.at("ran").get<bool>());
  }
}

TEST_CASE("with all left out that rules determine, a description completes to the same") {
  for (const Json& row : golden_descriptions()) {
    const std::string name = row.at("case");
    if (!row.at("ran").get<bool>() || is_exception(name)) continue;
    CAPTURE(name);
    CHECK(difference_of_completed(row) == "");
  }
}

TEST_CASE("what is said to follow from nothing does not") {
  for (const auto& [operator_name, part, reason] : undetermined) {
    CAPTURE(operator_name);
    CAPTURE(part);
    CHECK(std::string(reason).ends_with("."));
    bool is_needed = false;
    for (const Json& row : golden_descriptions()) {
      const bool is_of_it =
          row.at("case").get<std::string>().starts_with(operator_name + std::string("/"));
      if (!is_of_it || !row.at("ran").get<bool>()) continue;
      is_needed = is_needed || !difference_of_completed(row, part).empty();
    }
    CHECK(is_needed);
  }
}

}  // namespace dmlop::test::golden_descriptions_test
