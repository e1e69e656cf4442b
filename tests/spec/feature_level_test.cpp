// For every feature level, the types, dimension counts and modes that an operator accepts. The
// tables are copied here from the operators' pages.
#include <doctest/doctest.h>

#include <algorithm>

#include "reference/lp_pooling.hpp"
#include "reference/padding.hpp"
#include "reference/reverse_subsequences.hpp"
#include "reference/slice1.hpp"
#include "spec/facts.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::feature_level_test {
namespace {

using Json = nlohmann::ordered_json;

const std::vector<FeatureLevel> levels{{1, 0}, {2, 0}, {2, 1}, {3, 0}, {3, 1},
                                       {4, 0}, {4, 1}, {5, 0}, {5, 1}, {5, 2},
                                       {6, 0}, {6, 1}, {6, 2}, {6, 3}, {6, 4}};

struct Row {
  FeatureLevel from;
  std::size_t fewest;
  std::size_t most;
  Types types;
};
using Table = std::vector<Row>;  // newest first

/// Whether the newest row that the level has reached takes the type and the dimensions.
bool supported(const Table& table, FeatureLevel level, DataType type, std::size_t dimensions) {
  for (const Row& row : table) {
    if (level < row.from) continue;
    return row.fewest <= dimensions && dimensions <= row.most &&
           std::find(row.types.begin(), row.types.end(), type) != row.types.end();
  }
  return false;
}

// clang-format off
const Table padding_table{
    {{5, 0}, 1, 8, A11},
    {{3, 1}, 1, 8, A8},
    {{2, 1}, 4, 5, A8},
    {{1, 0}, 4, 5, F2},
};
const Table lp_pooling_table{
    {{1, 0}, 4, 5, F2},
};
const Table slice1_table{
    {{4, 1}, 1, 8, A11},
    {{3, 0}, 1, 8, A8},
    {{2, 1}, 4, 5, A8},
};
const Table reverse_subsequences_table{
    {{5, 0}, 1, 8, A11},
    {{4, 0}, 1, 8, A8},
    {{3, 0}, 4, 5, A8},
    {{2, 1}, 4, 4, A8},
};
const Table lengths_table{
    {{5, 0}, 1, 8, {DataType::UInt64, DataType::UInt32}},
    {{4, 0}, 1, 8, {DataType::UInt32}},
    {{3, 0}, 4, 5, {DataType::UInt32}},
    {{2, 1}, 4, 4, {DataType::UInt32}},
};
// clang-format on

/// Checks a description against what the table says of its level.
void check_level(const Json& description, FeatureLevel level, bool expected) {
  CAPTURE(to_text(level));
  CAPTURE(description.dump());
  const Diagnostics found = findings(description, level);
  CHECK(found.empty() == expected);
  const auto has_messages = [](const Diagnostic& d) {
    return !d.message.empty() && !d.rule.empty();
  };
  CHECK(std::all_of(found.begin(), found.end(), has_messages));
}

/// Checks an operator at all levels with all types and dimension counts; `describe` makes a
/// description that is valid but for these.
template <typename Describe>
void check_table(const Table& table, std::size_t fewest, Describe&& describe) {
  int accepted = 0;
  for (const DataType type : A11) {
    for (std::size_t dimensions = fewest; dimensions <= 9; ++dimensions) {
      const Json description = describe(type, dimensions);
      for (const FeatureLevel level : levels) {
        const bool expected = supported(table, level, type, dimensions);
        check_level(description, level, expected);
        if (expected) ++accepted;
      }
    }
  }
  CHECK(accepted > 0);
}

TEST_CASE("feature levels: PADDING") {
  check_table(padding_table, 1, [](DataType type, std::size_t dimensions) {
    const Padding padding{"EDGE", List(dimensions, 1), List(dimensions, 0)};
    return case_of(padding, {Tensor::packed(type, List(dimensions, 2))}).description;
  });
}

TEST_CASE("feature levels: modes of PADDING") {
  const auto check = [](const char* mode, FeatureLevel from) {
    const Padding padding{mode, {1, 1, 1, 1}, {0, 0, 0, 0}, 0};
    const Tensor input = Tensor::packed(DataType::Float32, {1, 1, 2, 2});
    const Json description = case_of(padding, {input}).description;
    for (const FeatureLevel level : levels) check_level(description, level, level >= from);
  };
  check("CONSTANT", {1, 0});
  check("EDGE", {1, 0});
  check("REFLECTION", {1, 0});
  check("SYMMETRIC", {3, 0});
  check("WRAP", {6, 4});
}

TEST_CASE("feature levels: LP_POOLING") {
  check_table(lp_pooling_table, 3, [](DataType type, std::size_t dimensions) {
    const List ones(dimensions - 2, 1), zeros(dimensions - 2, 0);
    const LpPooling pooling{.p = 2, .window = ones, .strides = ones, .start = zeros, .end = zeros};
    const Tensor single = Tensor::packed(type, List(dimensions, 1));
    return description_of(pooling, {single}, single);
  });
}

TEST_CASE("feature levels: SLICE1") {
  check_table(slice1_table, 1, [](DataType type, std::size_t dimensions) {
    const Slice1 slice{List(dimensions, 0), List(dimensions, 2),
                       std::vector<std::int64_t>(dimensions, -1)};
    return case_of(slice, {Tensor::packed(type, List(dimensions, 2))}).description;
  });
}

Json reversal(DataType type, DataType lengths_type, std::size_t dimensions) {
  const List sizes(dimensions, 1);
  return case_of(ReverseSubsequences{0},
                 {Tensor::packed(type, sizes), Tensor::packed(lengths_type, sizes)})
      .description;
}

TEST_CASE("feature levels: REVERSE_SUBSEQUENCES") {
  check_table(reverse_subsequences_table, 1, [](DataType type, std::size_t dimensions) {
    return reversal(type, DataType::UInt32, dimensions);
  });
}

TEST_CASE("feature levels: the lengths of REVERSE_SUBSEQUENCES") {
  check_table(lengths_table, 1, [](DataType lengths_type, std::size_t dimensions) {
    return reversal(DataType::Float32, lengths_type, dimensions);
  });
}

TEST_CASE("feature levels: an operator does not exist below the level that introduced it") {
  const Slice1 slice{{0, 0, 0, 0}, {1, 1, 1, 1}, {1, 1, 1, 1}};
  const Json description =
      case_of(slice, {Tensor::packed(DataType::Float32, {1, 1, 1, 1})}).description;
  CHECK(messages(description, {2, 0}) ==
        "DML_OPERATOR_SLICE1 needs feature level 2_1, this run has 2_0");
}

TEST_CASE("feature levels: each activation of a list") {
  const auto tensor = [](const List& sizes) {
    return Json{{"DataType", "FLOAT32"}, {"Sizes", sizes}};
  };
  int tried = 0;
  for (const FusedActivation& activation : activations_fused_into("RNN")) {
    const auto from = std::find(levels.begin(), levels.end(), activation.from);
    REQUIRE(from != levels.end());
    if (from == levels.begin()) continue;
    CAPTURE(activation.name);
    for (const std::size_t place : {0, 1}) {
      Json list(2, {{"Type", "ACTIVATION_TANH"}});
      list[place]["Type"] = activation.name;
      const Json description{{"type", "RNN"},
                             {"desc",
                              {{"InputTensor", tensor({1, 4, 2, 3})},
                               {"WeightTensor", tensor({1, 2, 5, 3})},
                               {"RecurrenceTensor", tensor({1, 2, 5, 5})},
                               {"OutputSequenceTensor", tensor({4, 2, 2, 5})},
                               {"ActivationDescs", list},
                               {"Direction", "BIDIRECTIONAL"}}}};
      const std::string needs = "ActivationDescs[" + std::to_string(place) + "].Type " +
                                activation.name + " needs feature level " + to_text(*from);
      CHECK(messages(description, *(from - 1)).find(needs) != std::string::npos);
      CHECK(messages(description, *from).find("needs feature level") == std::string::npos);
      ++tried;
    }
  }
  CHECK(tried > 2);
}

TEST_CASE("feature levels: a finding names the level that is needed") {
  const Padding padding{"EDGE", {0}, {1}};
  const Json description = case_of(padding, {Tensor::packed(DataType::Float64, {1})}).description;
  const Diagnostics found = findings(description, {3, 0});
  REQUIRE(found.size() == 2);
  CHECK(found[0].message ==
        "InputTensor.DataType FLOAT64 needs feature level 5_0, this run has 3_0");
  CHECK(found[1].message ==
        "InputTensor has 1 dimension, which needs feature level 3_1, this run has 3_0");
  CHECK(found[0].feature_level == "3_0");
}

}  // namespace
}  // namespace dmlop::test::feature_level_test
