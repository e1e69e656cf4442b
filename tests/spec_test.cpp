// What specs/ says of each operator, against facts of DirectML.h and its pages written down here a
// second time, and against the list of implemented operators.
#include "spec/spec.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/text.hpp"
#include "ops/operator.hpp"
#include "spec/description.hpp"
#include "spec/embedded_specs.hpp"
#include "types.hpp"

namespace {

using dmlop::DataType;
using dmlop::FeatureLevel;
using dmlop::FieldKind;
using dmlop::OperatorSpec;
using dmlop::test::Types;

struct Support {
  FeatureLevel from;
  std::string tensors;
  std::size_t low, high;
  Types types;
};

struct Facts {
  std::string name;
  FeatureLevel introduced;
  std::string fields;  // name:kind in DirectML.h's order
  std::vector<Support> support;
};

const Types lengths_5_0{DataType::UInt64, DataType::UInt32};
const Types lengths{DataType::UInt32};
const std::string both = "InputTensor OutputTensor";

const std::vector<Facts> all_facts{
    {"LP_POOLING",
     {1, 0},
     "InputTensor:in OutputTensor:out DimensionCount:uint Strides:uint[] WindowSize:uint[] "
     "StartPadding:uint[] EndPadding:uint[] P:uint",
     {{{1, 0}, both, 4, 5, dmlop::test::F2}}},
    {"PADDING",
     {1, 0},
     "InputTensor:in OutputTensor:out PaddingMode:enum PaddingValue:float DimensionCount:uint "
     "StartPadding:uint[] EndPadding:uint[]",
     {{{5, 0}, both, 1, 8, dmlop::test::A11},
      {{3, 1}, both, 1, 8, dmlop::test::A8},
      {{2, 1}, both, 4, 5, dmlop::test::A8},
      {{1, 0}, both, 4, 5, dmlop::test::F2}}},
    {"REVERSE_SUBSEQUENCES",
     {2, 1},
     "InputTensor:in SequenceLengthsTensor:in OutputTensor:out Axis:uint",
     {{{5, 0}, both, 1, 8, dmlop::test::A11},
      {{5, 0}, "SequenceLengthsTensor", 1, 8, lengths_5_0},
      {{4, 0}, both, 1, 8, dmlop::test::A8},
      {{4, 0}, "SequenceLengthsTensor", 1, 8, lengths},
      {{3, 0}, both, 4, 5, dmlop::test::A8},
      {{3, 0}, "SequenceLengthsTensor", 4, 5, lengths},
      {{2, 1}, both, 4, 4, dmlop::test::A8},
      {{2, 1}, "SequenceLengthsTensor", 4, 4, lengths}}},
    {"SLICE1",
     {2, 1},
     "InputTensor:in OutputTensor:out DimensionCount:uint InputWindowOffsets:uint[] "
     "InputWindowSizes:uint[] InputWindowStrides:int[]",
     {{{4, 1}, both, 1, 8, dmlop::test::A11},
      {{3, 0}, both, 1, 8, dmlop::test::A8},
      {{2, 1}, both, 4, 5, dmlop::test::A8}}},
};

std::string kind_name(FieldKind kind) {
  switch (kind) {
    case FieldKind::input_tensor:
      return "in";
    case FieldKind::output_tensor:
      return "out";
    case FieldKind::enumeration:
      return "enum";
    case FieldKind::uint:
      return "uint";
    case FieldKind::float32:
      return "float";
    case FieldKind::uint_array:
      return "uint[]";
    case FieldKind::int_array:
      return "int[]";
  }
  return "";
}

std::string sorted_names(const Types& types) {
  std::vector<std::string> names;
  for (const DataType type : types) names.emplace_back(name_of(type));
  std::sort(names.begin(), names.end());
  return dmlop::join(names);
}

std::string text_of(const Support& row) {
  return to_text(row.from) + " " + row.tensors + " " + std::to_string(row.low) + " to " +
         std::to_string(row.high) + ": " + sorted_names(row.types);
}

}  // namespace

TEST_CASE("every operator's fields, levels, dimensions and types are DirectML's") {
  for (const Facts& facts : all_facts) {
    CAPTURE(facts.name);
    const OperatorSpec* spec = dmlop::find_spec(facts.name);
    REQUIRE(spec != nullptr);
    CHECK((spec->introduced == facts.introduced));
    std::vector<std::string> fields;
    for (const auto& field : spec->fields)
      fields.push_back(field.name + ":" + kind_name(field.kind));
    CHECK(dmlop::join(fields, " ") == facts.fields);
    REQUIRE(spec->support.size() == facts.support.size());
    for (std::size_t i = 0; i < facts.support.size(); ++i) {
      const dmlop::SupportRow& row = spec->support[i];
      CHECK(text_of({row.from, dmlop::join(row.tensors, " "), row.min_dimensions,
                     row.max_dimensions, row.types}) == text_of(facts.support[i]));
    }
  }
}

TEST_CASE("operators with a spec, with code and with facts here are the same") {
  std::vector<std::string> with_facts;
  for (const Facts& facts : all_facts) with_facts.push_back(facts.name);
  std::vector<std::string> with_code;
#define DMLOP_OPERATOR(name, plan, check) with_code.emplace_back(#name);
#include "ops/operators.def"
#undef DMLOP_OPERATOR
  std::sort(with_code.begin(), with_code.end());
  CHECK(dmlop::specified_operators() == with_facts);
  CHECK(with_code == with_facts);
  for (const std::string& name : with_code) CHECK(dmlop::find_operator(name) != nullptr);
  CHECK(dmlop::find_operator("GEMM") == nullptr);
  CHECK(dmlop::find_spec("GEMM") == nullptr);
  CHECK(dmlop::find_spec("directml") == nullptr);
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

TEST_CASE("the row of the highest level that is not above the run's counts") {
  const OperatorSpec& spec = *dmlop::find_spec("REVERSE_SUBSEQUENCES");
  CHECK((spec.support_at("InputTensor", {6, 4})->from == FeatureLevel{5, 0}));
  CHECK((spec.support_at("SequenceLengthsTensor", {4, 1})->from == FeatureLevel{4, 0}));
  CHECK((spec.support_at("OutputTensor", {3, 1})->from == FeatureLevel{3, 0}));
  CHECK(spec.support_at("InputTensor", {2, 0}) == nullptr);
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
  CHECK(dmlop::embedded_specs().size() == dmlop::specified_operators().size() + 1);
  CHECK(dmlop::embedded_spec("padding").find("\"DML_OPERATOR_PADDING\"") != std::string_view::npos);
  CHECK(dmlop::embedded_spec("nothing").empty());
}
