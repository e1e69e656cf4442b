// The descriptions that DirectML 1.15.4 ran or refused (conformance/README.md), checked by the specs:
// what it ran is valid, what it refused is not. Each that ran is checked again with all left out that
// inference can give, and must complete to the same description.
#include <doctest/doctest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "ops/operator.hpp"
#include "spec/description.hpp"

namespace {

using Json = nlohmann::ordered_json;

struct Exception {
  const char* description;  // "OPERATOR/case"
  const char* reason;
};

/// Verdicts that differ from DirectML's on purpose.
constexpr Exception verdicts[] = {
#include "golden_descriptions_verdicts.inc"
};

/// Outputs that nothing determines: they must be written.
constexpr Exception undetermined[] = {
#include "golden_descriptions_undetermined.inc"
};

template <typename List>
bool has(const List& list, const std::string& name) {
  const auto is_it = [&](const Exception& exception) { return name == exception.description; };
  return std::any_of(std::begin(list), std::end(list), is_it);
}

const std::vector<Json>& descriptions() {
  static const std::vector<Json> list = [] {
    std::ifstream stream(DMLOP_CONFORMANCE "/descriptions/golden.jsonl");
    REQUIRE(stream.good());
    std::vector<Json> rows;
    for (std::string line; std::getline(stream, line);) rows.push_back(Json::parse(line));
    return rows;
  }();
  return list;
}

struct Checked {
  std::optional<dmlop::Description> description;
  dmlop::Diagnostics diagnostics;
};

Checked check(const Json& type, const Json& desc) {
  Checked checked;
  const Json json{{"type", type}, {"desc", desc}};
  checked.description =
      dmlop::read_description("op.json", json.dump(), std::nullopt, checked.diagnostics);
  if (checked.description) check_description(*checked.description, checked.diagnostics);
  return checked;
}

std::string tensors_text(dmlop::Description& description) {
  std::string text;
  for (const dmlop::TensorUse& use : tensors_of(description)) {
    text += use.name() + " " + std::string(name_of(*use.desc->data_type)) +
            dmlop::list_of(use.desc->sizes) + " ";
  }
  return text;
}

/// The description with outputs and counts left out; optional outputs stay as {}.
Json left_out(const dmlop::OperatorSpec& spec, Json desc) {
  for (const dmlop::FieldSpec& field : spec.fields) {
    if (!desc.contains(field.name)) continue;
    if (spec.is_count(field.name)) desc.erase(field.name);
    if (field.kind != dmlop::FieldKind::output_tensor) continue;
    if (field.optional) desc[field.name] = Json::object();
    if (!field.optional) desc.erase(field.name);
  }
  return desc;
}

/// What is wrong with the completed description; "" where it is the original.
std::string difference_of_completed(const Json& row) {
  Checked whole = check(row.at("type"), row.at("desc"));
  const dmlop::OperatorSpec& spec = *whole.description->spec;
  Json desc = left_out(spec, row.at("desc"));
  for (int attempt = 0;; ++attempt) {
    Checked partial = check(row.at("type"), desc);
    if (partial.diagnostics.empty()) {
      const std::string found = tensors_text(*partial.description);
      const std::string expected = tensors_text(*whole.description);
      return found == expected ? "" : found + "instead of " + expected;
    }
    // What nothing determines is put back, where the operator may ask for it.
    if (attempt > 0 || !has(undetermined, spec.name)) return to_text(partial.diagnostics.front());
    for (const dmlop::FieldSpec& field : spec.fields) {
      if (field.kind == dmlop::FieldKind::output_tensor && row.at("desc").contains(field.name))
        desc[field.name] = row.at("desc").at(field.name);
    }
  }
}

}  // namespace

TEST_CASE("what DirectML ran is valid, and what it refused is not") {
  CHECK(descriptions().size() == 5360);
  std::set<std::string> operators;
  for (const Json& row : descriptions()) {
    const std::string name = row.at("case");
    operators.insert(name.substr(0, name.find('/')));
    const Checked checked = check(row.at("type"), row.at("desc"));
    const bool agrees = checked.diagnostics.empty() == row.at("ran").get<bool>();
    CAPTURE(name);
    for (const auto& diagnostic : checked.diagnostics) CAPTURE(to_text(diagnostic));
    if (has(verdicts, name)) {
      CHECK_MESSAGE(!agrees, "an exception that is none");
    } else if (!agrees) {
      FAIL_CHECK(row.at("desc").dump());
      for (const auto& diagnostic : checked.diagnostics) MESSAGE(to_text(diagnostic));
    }
  }
  CHECK(operators.size() == 177);
}

TEST_CASE("with outputs and counts left out a description completes to the same") {
  std::set<std::string> needed;  // operators whose outputs had to be put back
  for (const Json& row : descriptions()) {
    const std::string name = row.at("case");
    if (!row.at("ran").get<bool>() || has(verdicts, name)) continue;
    CAPTURE(name);
    CHECK(difference_of_completed(row) == "");
    const std::string type = name.substr(0, name.find('/'));
    const dmlop::OperatorSpec& spec = *dmlop::find_spec(type);
    if (!check(row.at("type"), left_out(spec, row.at("desc"))).diagnostics.empty())
      needed.insert(type);
  }
  for (const Exception& exception : undetermined) {
    CAPTURE(exception.description);
    CHECK(std::string(exception.reason).ends_with("."));
    CHECK(needed.contains(exception.description));
  }
}
