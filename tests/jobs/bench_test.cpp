// dmlop bench on descriptions without files, with made-up inputs: how large they are, that every
// operator can work with them, and that they lie within what they point into.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>

#include "job/random_inputs.hpp"
#include "ops/operator.hpp"
#include "program.hpp"
#include "spec/validate.hpp"
#include "tensor/element.hpp"

namespace dmlop::test::bench_test {
namespace {

using Json = nlohmann::json;

/// What bench says of a description that it reads from standard input.
Json measured(const Json& description, const std::string& device) {
  const ProgramResult result =
      dmlop_program({"bench", "-", "--device", device, "--min-time", "0", "--format", "json"},
                    {.input = description.dump()});
  CAPTURE(result.error);
  REQUIRE(result.code == 0);
  return Json::parse(result.output);
}

Json edge_padding(const Json& input) {
  return {{"type", "PADDING"},
          {"desc",
           {{"InputTensor", input},
            {"PaddingMode", "EDGE"},
            {"StartPadding", {1, 2}},
            {"EndPadding", {0, 0}}}}};
}

TEST_CASE("bench: inputs without files are as large as their descs say, for every type") {
  const std::vector<std::pair<std::string, unsigned>> types{
      {"FLOAT64", 8}, {"FLOAT32", 4}, {"FLOAT16", 2}, {"INT64", 8}, {"UINT64", 8}, {"INT32", 4},
      {"UINT32", 4},  {"INT16", 2},   {"UINT16", 2},  {"INT8", 1},  {"UINT8", 1}};
  for (const auto& row : types) {
    CAPTURE(row.first);
    const Json result = measured(edge_padding({{"DataType", row.first}, {"Sizes", {4, 5}}}), "cpu");
    CHECK(result.at("inputBytes") == 20 * row.second);
    CHECK(result.at("outputBytes") == 35 * row.second);
  }
}

TEST_CASE("bench: times have units in which they are from 1 to 1000") {
  const auto result =
      dmlop_program({"bench", "-", "--device", "cpu", "--min-time", "0"},
                    {.input = edge_padding({{"DataType", "FLOAT32"}, {"Sizes", {1, 2}}}).dump()});
  static const std::regex line(
      "time       ([0-9.]+) (ns|us|ms|s) median, [0-9.e+]+ min, [0-9.e+]+ p95 of ");
  std::smatch match;
  CAPTURE(result.output);
  REQUIRE(std::regex_search(result.output, match, line));
  CHECK(std::stod(match[1]) >= 1);
  CHECK(std::stod(match[1]) <= 1000);
}

TEST_CASE("bench: a strided input is the buffer that its strides reach") {
  const Json rows{{"DataType", "FLOAT32"}, {"Sizes", {4, 5}}, {"Strides", {0, 1}}};
  const Json result = measured(edge_padding(rows), "cpu");
  CHECK(result.at("inputBytes") == 5 * 4);
  CHECK(result.at("outputBytes") == 35 * 4);
}

TEST_CASE("bench: of what is picked, only the part that is read counts") {
  const Json table{{"type", "GATHER"},
                   {"desc",
                    {{"InputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {1000, 8}}}},
                     {"IndicesTensor", {{"DataType", "UINT32"}, {"Sizes", {1, 3}}}},
                     {"Axis", 0},
                     {"IndexDimensions", 1}}}};
  const Json gathered = measured(table, "cpu");
  CHECK(gathered.at("inputBytes") == 3 * 8 * 4 + 3 * 4);
  CHECK(gathered.at("outputBytes") == 3 * 8 * 4);
  const Json slice{{"type", "SLICE"},
                   {"desc",
                    {{"InputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {1, 1, 100, 8}}}},
                     {"Offsets", {0, 0, 10, 0}},
                     {"Sizes", {1, 1, 2, 8}},
                     {"Strides", {1, 1, 1, 1}}}}};
  CHECK(measured(slice, "cpu").at("inputBytes") == 2 * 8 * 4);
}

TEST_CASE("bench: a share of the copy rate only where the tensors are large enough for one") {
  const auto share_of = [](unsigned rows) {
    return measured(edge_padding({{"DataType", "UINT8"}, {"Sizes", {rows, 1024}}}), "cpu");
  };
  const Json small = share_of(500);
  CHECK(small.at("shareOfCopyRate").is_null());
  CHECK(
      small.at("notMeasured").at("copyBytesPerSecond") ==
      "1026026 bytes in and out are too few to compare with a copy, which takes at least 1048576");
  const Json large = share_of(600);
  CHECK(large.at("shareOfCopyRate").get<double>() > 0);
  CHECK_FALSE(large.at("notMeasured").contains("copyBytesPerSecond"));
}

/// A complete description; `changes` replace fields of the operator's example.
Description described(const std::string& name, const Json& changes = Json::object()) {
  Json desc = Json::parse(find_spec(name)->example);
  desc.update(changes);
  const Json json{{"type", "DML_OPERATOR_" + name}, {"desc", desc}};
  Diagnostics diagnostics;
  auto description = read_description("op.json", json.dump(), newest_feature_level, diagnostics);
  REQUIRE(description);
  check_description(*description, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), name << ": " << to_text(diagnostics.front()));
  return std::move(*description);
}

/// The made-up numbers of an input.
std::vector<double> made_up(const Description& description, const std::string& field,
                            std::optional<std::size_t> element = {}) {
  const DataType type = *description.find_tensor(field, element)->data_type;
  const Bytes bytes = bench_input(description, *description.find(field)->spec, element, 7, 1);
  std::vector<double> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += size_of(type))
    numbers.push_back(element_value(type, &bytes[at]));
  return numbers;
}

TEST_CASE("bench: every operator gives finite numbers for its made-up inputs") {
  std::size_t outputs = 0;
  for (const std::string& name : specified_operators()) {
    CAPTURE(name);
    const Description description = described(name);
    const Plan plan = make_plan(description);
    std::vector<Bytes> owned(plan.slots.size());
    std::vector<std::span<const std::byte>> inputs(plan.slots.size());
    for (const std::size_t slot : plan.slots_of(SlotKind::input)) {
      const auto& [kind, field, element, elements, size, type] = plan.slots[slot];
      owned[slot] = bench_input(description, *description.find(field)->spec, element, slot, 1);
      inputs[slot] = owned[slot];
    }
    PlanInMemory run(plan, inputs, 1);
    run.run();
    for (const std::size_t slot : plan.slots_of(SlotKind::output)) {
      const DataType type = *plan.slots[slot].data_type;
      const Bytes& bytes = run.output(slot);
      ++outputs;
      if (info(type).bits < 8) continue;
      for (std::size_t at = 0; at < bytes.size(); at += size_of(type)) {
        const bool is_finite = std::isfinite(element_value(type, &bytes[at]));
        CHECK_MESSAGE(is_finite, plan.slots[slot].field << "[" << at / size_of(type) << "]");
        if (!is_finite) break;
      }
    }
  }
  CHECK(outputs >= 177);
}

TEST_CASE("bench: whatever points into another tensor has its range") {
  std::size_t count = 0;
  for (const std::string& name : specified_operators()) {
    const Description description = described(name);
    for (const FieldSpec& field : description.spec->fields) {
      const bool points = std::ranges::any_of(
          std::array{"Indices", "Lengths", "ROI", "Mask"},
          [&](const char* part) { return field.name.find(part) != std::string::npos; });
      if (!points || field.kind != FieldKind::input_tensor) continue;
      if (description.find_tensor(field.name) == nullptr) continue;
      CAPTURE(name);
      CHECK_MESSAGE(!random_ranges(description, field, {}).empty(), field.name);
      ++count;
    }
  }
  CHECK(count >= 18);
}

TEST_CASE("bench: indices, lengths and other numbers lie within what they are for") {
  const Json table{{"DataType", "FLOAT32"}, {"Sizes", {1, 3, 50}}};
  const Json picks{{"DataType", "INT64"}, {"Sizes", {1, 1, 1000}}};
  struct Case {
    const char* name;
    Json changes;
    const char* field;
    double low, high;
  };
  const std::vector<Case> cases{
      {"GATHER",
       {{"InputTensor", table}, {"IndicesTensor", picks}, {"Axis", 2}, {"IndexDimensions", 1}},
       "IndicesTensor",
       0,
       49},
      {"REVERSE_SUBSEQUENCES",
       {{"InputTensor", {{"DataType", "INT8"}, {"Sizes", {7, 1000}}}},
        {"SequenceLengthsTensor", {{"DataType", "UINT32"}, {"Sizes", {1, 1000}}}},
        {"Axis", 0}},
       "SequenceLengthsTensor",
       1,
       7},
      {"ELEMENT_WISE_BIT_SHIFT_LEFT",
       {{"ATensor", {{"DataType", "UINT16"}, {"Sizes", {1000}}}},
        {"BTensor", {{"DataType", "UINT16"}, {"Sizes", {1000}}}}},
       "BTensor",
       0,
       15},
      {"ELEMENT_WISE_DIVIDE",
       {{"ATensor", {{"DataType", "INT8"}, {"Sizes", {1000}}}},
        {"BTensor", {{"DataType", "INT8"}, {"Sizes", {1000}}}}},
       "BTensor",
       1,
       100},
  };
  for (const Case& one : cases) {
    CAPTURE(one.name);
    const auto numbers = made_up(described(one.name, one.changes), one.field);
    CHECK(numbers.size() == 1000);
    CHECK(*std::ranges::min_element(numbers) == one.low);
    CHECK(*std::ranges::max_element(numbers) == one.high);
  }
}

TEST_CASE("bench: on a GPU the states of long sequences are the CPU's") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  for (const auto& [cell, gates] :
       {std::pair{"RNN", 1}, std::pair{"GRU", 3}, std::pair{"LSTM", 4}}) {
    CAPTURE(cell);
    Json activations = Json::array();
    for (int i = 0; i < (gates + 2) / 2; ++i)
      activations.push_back({{"Type", "ACTIVATION_TANH"}, {"Desc", Json::object()}});
    Json desc{{"InputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {1, 100, 2, 16}}}},
              {"WeightTensor", {{"DataType", "FLOAT32"}, {"Sizes", {1, 1, gates * 16, 16}}}},
              {"RecurrenceTensor", {{"DataType", "FLOAT32"}, {"Sizes", {1, 1, gates * 16, 16}}}},
              {"OutputSequenceTensor", {{"DataType", "FLOAT32"}, {"Sizes", {100, 1, 2, 16}}}},
              {"ActivationDescCount", activations.size()},
              {"ActivationDescs", activations},
              {"Direction", "FORWARD"}};
    if (gates == 3) desc["LinearBeforeReset"] = false;
    if (gates == 4)
      desc.update(
          {{"UseClipThreshold", false}, {"ClipThreshold", 0}, {"CoupleInputForget", false}});
    CHECK(measured({{"type", cell}, {"desc", desc}}, program_gpu()).at("runs").get<unsigned>() >=
          1);
  }
}

TEST_CASE("bench: coordinates lie within each dimension, and regions within the image") {
  const auto coordinates = made_up(
      described("GATHER_ND", {{"InputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {3, 40, 2}}}},
                              {"IndicesTensor", {{"DataType", "UINT32"}, {"Sizes", {1, 900, 2}}}},
                              {"InputDimensionCount", 3},
                              {"IndicesDimensionCount", 2}}),
      "IndicesTensor");
  double most[2] = {0, 0};
  for (std::size_t i = 0; i < coordinates.size(); ++i)
    most[i % 2] = std::max(most[i % 2], coordinates[i]);
  CHECK(most[0] == 2);
  CHECK(most[1] == 39);

  const auto regions = made_up(
      described("ROI_ALIGN", {{"InputTensor", {{"DataType", "FLOAT32"}, {"Sizes", {2, 1, 20, 64}}}},
                              {"ROITensor", {{"DataType", "FLOAT32"}, {"Sizes", {300, 4}}}},
                              {"BatchIndicesTensor", {{"DataType", "UINT32"}, {"Sizes", {300}}}},
                              {"OutputTensor", {{"Sizes", {300, 1, 2, 2}}}},
                              {"SpatialScaleX", 0.5}}),
      "ROITensor");
  REQUIRE(regions.size() == 1200);
  for (std::size_t i = 0; i < regions.size(); i += 4) {
    CHECK(regions[i] < regions[i + 2]);
    CHECK(regions[i + 1] < regions[i + 3]);
    CHECK(regions[i + 2] <= 128);
    CHECK(regions[i + 3] <= 20);
  }
}

TEST_CASE("bench: on a GPU powers of made-up numbers are the CPU's up to the last bits") {
  if (program_gpu().empty()) {
    MESSAGE("SKIPPED on gpu: dmlop devices lists none");
    return;
  }
  for (const char* type : {"FLOAT32", "FLOAT16"}) {
    for (const unsigned p : {1U, 2U, 3U}) {
      CAPTURE(type);
      CAPTURE(p);
      const Json pooling{{"type", "LP_POOLING"},
                         {"desc",
                          {{"InputTensor", {{"DataType", type}, {"Sizes", {1, 2, 40, 40}}}},
                           {"Strides", {2, 2}},
                           {"WindowSize", {3, 3}},
                           {"StartPadding", {0, 0}},
                           {"EndPadding", {1, 1}},
                           {"P", p}}}};
      CHECK(measured(pooling, program_gpu()).at("runs").get<unsigned>() >= 1);
    }
  }
}

}  // namespace
}  // namespace dmlop::test::bench_test
