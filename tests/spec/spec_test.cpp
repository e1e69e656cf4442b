// The specs of all operators, checked against facts of DirectML.h and its pages that were collected
// independently, and against the list of implemented operators.
#include "spec/spec.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "spec/description.hpp"
#include "spec/embedded_specs.hpp"

namespace dmlop::spec_test {
namespace {

using dmlop::FeatureLevel;
using dmlop::FieldKind;
using dmlop::FieldSpec;
using dmlop::OperatorSpec;
using Json = nlohmann::json;

/// Facts of DirectML.h and of the pages' tables, collected apart from specs/
/// (conformance/README.md).
const Json& catalogue() {
  static const Json json = [] {
    std::ifstream stream(test::conformance_path("descriptions/catalogue.json"));
    REQUIRE(stream.good());
    return Json::parse(stream);
  }();
  return json;
}

const Json& facts_of(const std::string& name) {
  for (const Json& row : catalogue().at("operators")) {
    if (row.at("name") == name) return row;
  }
  FAIL("no facts of " << name);
  return catalogue();
}

/// Where a spec says something else than the catalogue on purpose, and why.
struct Exception {
  const char* fact;        // the operator, and what differs
  const char* difference;  // of specs/differences.json; differences_test.cpp looks it up
};

constexpr Exception exceptions[] = {
#include "spec_exceptions.inc"
};

bool is_exception(const std::string& fact) {
  for (const Exception& exception : exceptions) {
    if (fact == exception.fact) return true;
  }
  return false;
}

std::string text_of(const Json& field) {
  return field.at("name").get<std::string>() + " " + field.at("kind").get<std::string>() + " " +
         field.value("enum", "") + " " + field.value("count_field", "") + " " +
         field.value("scalar_type_field", "") + (field.at("optional") ? " optional" : "");
}

std::string text_of(const FieldSpec& field) {
  return field.name + " " + std::string(name_of(field.kind)) + " " + field.enum_name + " " +
         field.count_field + " " + field.type_field + (field.optional ? " optional" : "");
}

/// What a table row says of one tensor, in an order that does not depend on who wrote it.
std::string support_text(const std::string& from, const std::string& tensor, std::size_t low,
                         std::size_t high, std::vector<std::string> types) {
  std::sort(types.begin(), types.end());
  return from + " " + tensor + " " + std::to_string(low) + ".." + std::to_string(high) + " " +
         dmlop::join(types, " ");
}

std::set<std::string> support_of(const Json& facts) {
  std::set<std::string> rows;
  for (const Json& table : facts.at("tables")) {
    for (const auto& [tensor, row] : table.at("tensors").items())
      rows.insert(support_text(table.at("from"), tensor, row.at("dimensions").at(0),
                               row.at("dimensions").at(1), row.at("types")));
  }
  return rows;
}

std::set<std::string> support_of(const OperatorSpec& spec) {
  std::set<std::string> rows;
  for (const dmlop::SupportRow& row : spec.support) {
    std::vector<std::string> types;
    for (const dmlop::DataType type : row.types) types.emplace_back(name_of(type));
    for (const std::string& tensor : row.tensors)
      rows.insert(
          support_text(to_text(row.from), tensor, row.min_dimensions, row.max_dimensions, types));
  }
  return rows;
}

}  // namespace

TEST_CASE("every operator has a spec, with DirectML.h's fields in its order") {
  CHECK(dmlop::specified_operators().size() == 177);
  for (const std::string& name : dmlop::known_operators()) {
    CAPTURE(name);
    const OperatorSpec* spec = dmlop::find_spec(name);
    REQUIRE(spec != nullptr);
    const Json& facts = facts_of(name);
    CHECK(to_text(spec->introduced) == facts.at("introduced").get<std::string>());
    CHECK(*dmlop::operator_value(name) == facts.at("value"));
    CHECK((spec->in_place != facts.at("in_place")) == is_exception(name + " in-place"));
    std::vector<std::string> found, expected;
    for (const FieldSpec& field : spec->fields) found.push_back(text_of(field));
    for (const Json& field : facts.at("fields")) expected.push_back(text_of(field));
    CHECK(dmlop::join(found) == dmlop::join(expected));
  }
}

TEST_CASE("every operator's levels, dimension counts and types are its page's") {
  std::set<std::string> differences, listed;
  for (const std::string& name : dmlop::known_operators()) {
    const auto found = support_of(*dmlop::find_spec(name));
    const auto expected = support_of(facts_of(name));
    for (const std::string& row : found) {
      if (!expected.contains(row)) differences.insert(name + " + " + row);
    }
    for (const std::string& row : expected) {
      if (!found.contains(row)) differences.insert(name + " - " + row);
    }
  }
  for (const Exception& exception : exceptions) {
    if (!std::string(exception.fact).ends_with(" in-place")) listed.insert(exception.fact);
  }
  CHECK(dmlop::join(differences, "\n") == dmlop::join(listed, "\n"));
}

TEST_CASE("every operator belongs to a family, and its file lies in the family's folder") {
  std::set<std::string> used;
  for (const std::string& name : dmlop::known_operators())
    used.insert(dmlop::find_spec(name)->family);
  std::set<std::string> listed;
  for (const dmlop::Family& family : dmlop::families()) listed.insert(family.name);
  CHECK(used == listed);
}

TEST_CASE("what may be fused, and from which level, is DirectML's") {
  const Json& facts = catalogue().at("fused_activation");
  const Json& restricted = facts.at("restricted");
  for (const dmlop::FusedActivation& activation : dmlop::fused_activations()) {
    const std::string name = "DML_OPERATOR_" + activation.name;
    CAPTURE(name);
    const auto limit = restricted.find(name);
    if (limit == restricted.end()) {
      CHECK(activation.into.empty());
      CHECK((activation.from == *dmlop::operator_introduced(activation.name)));
      const auto& all = facts.at("activations");
      CHECK(std::find(all.begin(), all.end(), name) != all.end());
      continue;
    }
    CHECK(to_text(activation.from) == limit->at("from_level").get<std::string>());
    CHECK(activation.into.size() == limit->at("to").size());
  }
}

TEST_CASE("an operator with a spec and without code is refused, not run") {
  dmlop::OperatorSpec spec;
  spec.name = "BRAND_NEW";
  dmlop::Description description;
  description.spec = &spec;
  CHECK_THROWS_WITH_AS(dmlop::make_plan(description),
                       doctest::Contains("nothing runs DML_OPERATOR_BRAND_NEW yet"), dmlop::Error);
}

TEST_CASE("every operator of DirectML runs, and nothing else does") {
  const auto& all = dmlop::specified_operators();
  CHECK(all.size() == 177);
  for (const std::string& name : all)
    CHECK_MESSAGE(dmlop::find_operator(name) != nullptr, name << " has no row in operators.def");
  std::vector<std::string> with_code;
#define DMLOP_OPERATOR(name, plan, check) with_code.emplace_back(#name);
#include "ops/operators.def"
#undef DMLOP_OPERATOR
#define DMLOP_ELEMENT_WISE(name, expression) with_code.emplace_back(#name);
#include "ops/element_wise.def"
#undef DMLOP_ELEMENT_WISE
  CHECK(with_code.size() == all.size());
  for (const std::string& name : with_code) CHECK(dmlop::find_spec(name) != nullptr);
  CHECK(dmlop::find_operator("GEM") == nullptr);
  CHECK(dmlop::find_spec("directml") == nullptr);
  CHECK(dmlop::find_spec("SCATTER")->name == "SCATTER_ELEMENTS");
}

/// The words of the operators' tests and references: names such as DML_OPERATOR_GEMM or GEMM.
std::set<std::string> words_of_operator_tests() {
  std::set<std::string> words;
  for (const char* folder : {"/tests/operators", "/tests/reference"}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(test::source_path() + std::string(folder))) {
      if (entry.path().extension() == ".inc") continue;  // these are about DirectML's cases
      std::ifstream file(entry.path());
      std::string word;
      for (char c = 0; file.get(c);) {
        const bool is_of_name = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (is_of_name) word += c;
        if (is_of_name || word.empty()) continue;
        words.insert(word.starts_with("DML_OPERATOR_") ? word.substr(13) : word);
        word.clear();
      }
    }
  }
  return words;
}

TEST_CASE("every operator has tests of its own, beside the cases that DirectML computed") {
  const std::set<std::string> put_together{"ACTIVATION_HARDMAX", "ACTIVATION_HARDMAX1",
                                           "ACTIVATION_LOG_SOFTMAX", "ACTIVATION_LOG_SOFTMAX1",
                                           "MAX_POOLING2"};  // names in the tests
  const std::set<std::string> has_cases_alone{
      "ACTIVATION_RELU_GRAD",     "ELEMENT_WISE_ADD1",
      "ELEMENT_WISE_BIT_COUNT",   "ELEMENT_WISE_BIT_SHIFT_RIGHT",
      "ELEMENT_WISE_CLIP_GRAD",   "ELEMENT_WISE_CLIP_GRAD1",
      "ELEMENT_WISE_LOGICAL_AND", "ELEMENT_WISE_LOGICAL_NOT",
      "ELEMENT_WISE_LOGICAL_OR",  "ELEMENT_WISE_QUANTIZED_LINEAR_ADD"};
  const std::set<std::string> words = words_of_operator_tests();
  for (const std::string& name : dmlop::specified_operators()) {
    const bool is_listed = put_together.contains(name) || has_cases_alone.contains(name);
    CHECK_MESSAGE(words.contains(name) != is_listed, name);
  }
}

TEST_CASE("DirectML.h's operators, enums and feature levels are known") {
  CHECK(dmlop::known_operators().size() == 177);
  CHECK((dmlop::operator_introduced("PADDING1") == FeatureLevel{5, 0}));
  CHECK((dmlop::operator_introduced("UNFOLD") == FeatureLevel{6, 4}));
  CHECK_FALSE(dmlop::operator_introduced("PADING").has_value());
  std::string modes;
  for (const auto& value : dmlop::enum_values("DML_PADDING_MODE")) {
    modes +=
        value.name + " " + std::to_string(value.value) + " " + to_text(value.introduced) + ", ";
  }
  CHECK(modes == "CONSTANT 0 1_0, EDGE 1 1_0, REFLECTION 2 1_0, SYMMETRIC 3 3_0, WRAP 4 6_4, ");
}

TEST_CASE("feature levels are read in three spellings, and only those that exist") {
  CHECK((dmlop::feature_level_named("5_0") == FeatureLevel{5, 0}));
  CHECK((dmlop::feature_level_named("5.0") == FeatureLevel{5, 0}));
  CHECK((dmlop::feature_level_named("DML_FEATURE_LEVEL_5_0") == FeatureLevel{5, 0}));
  for (const char* name : {"1_0", "2_0", "2_1", "3_0", "3_1", "4_0", "4_1", "5_0", "5_1", "5_2",
                           "6_0", "6_1", "6_2", "6_3", "6_4"}) {
    CHECK(to_text(dmlop::feature_level_named(name).value()) == name);
  }
  for (const char* name : {"", "5", "5-0", "1_1", "2_2", "6_5", "7_0", "5_0 ", "05_0", "DML_5_0"}) {
    CHECK_FALSE(dmlop::feature_level_named(name).has_value());
  }
}

TEST_CASE("every spec's example is a valid description") {
  for (const std::string& name : dmlop::specified_operators()) {
    CAPTURE(name);
    const OperatorSpec& spec = *dmlop::find_spec(name);
    dmlop::Diagnostics diagnostics;
    auto description = dmlop::read_description(
        "example", "{\"type\": \"" + name + "\", \"desc\": " + spec.example + "}", std::nullopt,
        diagnostics);
    REQUIRE(description.has_value());
    check_description(*description, diagnostics);
    for (const auto& diagnostic : diagnostics) MESSAGE(to_text(diagnostic));
    CHECK(diagnostics.empty());
    CHECK(spec.source.starts_with("https://learn.microsoft.com/"));
    CHECK(spec.summary.ends_with("."));
    CHECK(spec.tolerance_reason.empty() == spec.tolerances.empty());
    for (const auto& field : spec.fields) CHECK(field.text.ends_with("."));
  }
}

TEST_CASE("an example's value stands on one line") {
  const OperatorSpec& padding = *dmlop::find_spec("PADDING");
  CHECK(example_value(padding, "StartPadding") == "[0, 0, 1, 2]");
  CHECK(example_value(padding, "InputTensor") ==
        "{\"DataType\": \"FLOAT32\", \"Sizes\": [1, 1, 4, 4]}");
}

TEST_CASE("embedded specs are the files of specs/") {
  CHECK(dmlop::embedded_specs().size() == dmlop::specified_operators().size());
  const auto* padding = dmlop::find_embedded_spec("padding");
  REQUIRE(padding != nullptr);
  CHECK(padding->family == "data_movement");
  CHECK(padding->text.find("\"DML_OPERATOR_PADDING\"") != std::string_view::npos);
  CHECK(dmlop::find_embedded_spec("nothing") == nullptr);
}

}  // namespace dmlop::spec_test
