// Results do not depend on the number of threads: every operator gives the same bytes on 1, 2, 3, 7
// and 16, with blocks and parts so small that all of them get some.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "cpu/execute.hpp"
#include "cpu/preparation.hpp"
#include "job/host_plan.hpp"
#include "job/random_inputs.hpp"
#include "ops/expand.hpp"
#include "ops/operator.hpp"
#include "spec/validate.hpp"

namespace dmlop::test::threads_test {
namespace {

using Json = nlohmann::json;

/// An operator, and fields in place of those of its example; null leaves one out.
struct Work {
  std::string name;
  Json changes = Json::object();
};

Json tensor(const std::string& type, const Json& sizes) {
  return {{"DataType", type}, {"Sizes", sizes}};
}

/// Works that are cut into blocks: long rows, alone and side by side.
std::vector<Work> cut_works() {
  std::vector<Work> works;
  for (const char* function : {"SUM", "MULTIPLY", "MAX", "MIN", "L2", "AVERAGE", "LOG_SUM_EXP"}) {
    for (const auto& [axes, output] : std::vector<std::pair<Json, Json>>{
             {{0, 1, 2}, {1, 1, 1}}, {{0, 1}, {1, 1, 37}}, {{2}, {3, 50, 1}}}) {
      for (const char* type : {"FLOAT32", "FLOAT16", "INT32"}) {
        const bool is_float = type[0] == 'F';
        if (!is_float && (function[0] == 'L' || function[0] == 'A')) continue;
        works.push_back({"REDUCE",
                         {{"InputTensor", tensor(type, {3, 50, 37})},
                          {"OutputTensor", tensor(type, output)},
                          {"Axes", axes},
                          {"Function", function}}});
      }
    }
  }
  for (const char* name : {"ARGMAX", "ARGMIN"}) {
    for (const char* direction : {"INCREASING", "DECREASING"})
      works.push_back({name,
                       {{"InputTensor", tensor("INT8", {2, 1500})},
                        {"OutputTensor", tensor("UINT32", {2, 1})},
                        {"Axes", {1}},
                        {"AxisDirection", direction}}});
  }
  for (const Json& axes : {Json{1}, Json{0, 1}})
    works.push_back(
        {"ACTIVATION_SOFTMAX1", {{"InputTensor", tensor("FLOAT32", {20, 80})}, {"Axes", axes}}});
  for (const char* name : {"CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT"}) {
    for (const char* direction : {"INCREASING", "DECREASING"}) {
      for (const char* type : {"FLOAT32", "FLOAT16", "INT32"}) {
        for (const Json& sizes : {Json{1, 1700}, Json{900, 3}})
          works.push_back({name,
                           {{"InputTensor", tensor(type, sizes)},
                            {"Axis", sizes[0] == 1 ? 1 : 0},
                            {"AxisDirection", direction}}});
      }
    }
  }
  for (const char* type : {"FLOAT32", "FLOAT16", "INT8"}) {
    for (const std::uint64_t k : {1, 40, 900})
      works.push_back({"TOP_K1",
                       {{"InputTensor", tensor(type, {2, 900})},
                        {"OutputIndexTensor", tensor("UINT32", {2, k})},
                        {"Axis", 1},
                        {"K", k}}});
  }
  works.push_back({"MAX_UNPOOLING",
                   {{"InputTensor", tensor("FLOAT32", {1, 2, 20, 30})},
                    {"IndicesTensor", tensor("UINT32", {1, 2, 20, 30})},
                    {"OutputTensor", tensor("FLOAT32", {1, 2, 40, 60})}}});
  for (const auto& [name, gates] :
       std::vector<std::pair<std::string, std::uint64_t>>{{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}}) {
    works.push_back({name,
                     {{"InputTensor", tensor("FLOAT32", {1, 4, 3, 5})},
                      {"WeightTensor", tensor("FLOAT32", {1, 1, gates * 90, 5})},
                      {"RecurrenceTensor", tensor("FLOAT32", {1, 1, gates * 90, 90})},
                      {"BiasTensor", nullptr},
                      {"HiddenInitTensor", nullptr},
                      {"SequenceLengthsTensor", nullptr},
                      {"OutputSequenceTensor", tensor("FLOAT32", {4, 1, 3, 90})},
                      {"OutputSingleTensor", tensor("FLOAT32", {1, 1, 3, 90})},
                      {"Direction", "FORWARD"}}});
    if (name == "LSTM") {
      works.back().changes["CellMemInitTensor"] = nullptr;
      works.back().changes["PeepholeTensor"] = nullptr;
      works.back().changes["OutputCellSingleTensor"] = nullptr;
    }
  }
  return works;
}

Description described(const Work& work) {
  Json desc = Json::parse(find_spec(work.name)->example);
  for (const auto& [field, value] : work.changes.items()) {
    if (value.is_null())
      desc.erase(field);
    else
      desc[field] = value;
  }
  const Json json{{"type", "DML_OPERATOR_" + work.name}, {"desc", desc}};
  Diagnostics diagnostics;
  auto description = read_description("op.json", json.dump(), newest_feature_level, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), work.name << ": " << to_text(diagnostics.front()));
  check_description(*description, diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), work.name << ": " << to_text(diagnostics.front()));
  return std::move(*description);
}

using OutputBytes = std::vector<std::vector<std::byte>>;

/// A plan with made-up inputs.
class Runner {
 public:
  explicit Runner(const Description& description)
      : plan_(make_plan(description)), owned_(plan_.slots.size()), inputs_(plan_.slots.size()) {
    for (const std::size_t slot : plan_.slots_of(SlotKind::input)) {
      const Slot& tensor = plan_.slots[slot];
      owned_[slot] =
          bench_input(description, *description.find(tensor.field)->spec, tensor.element, slot, 1);
      inputs_[slot] = owned_[slot];
    }
  }

  OutputBytes run(unsigned threads, std::uint64_t part_bytes) const {
    OutputBytes outputs;
    for (const Slot& slot : plan_.slots)
      outputs.emplace_back(slot.kind == SlotKind::output ? slot.bytes() : 0, std::byte{0xA5});
    const OutputSink sink = [&](std::size_t slot, std::uint64_t offset,
                                std::span<const std::byte> part) {
      std::copy(part.begin(), part.end(), &outputs[slot][offset]);
    };
    run_on_host(plan_, inputs_, threads, sink, part_bytes);
    return outputs;
  }

 private:
  Plan plan_;
  std::vector<Bytes> owned_;
  std::vector<std::span<const std::byte>> inputs_;
};

void check_threads(const Work& work, std::uint64_t part_bytes) {
  CAPTURE(work.name);
  CAPTURE(work.changes.dump());
  const Runner runner(described(work));
  const OutputBytes alone = runner.run(1, part_bytes);
  for (const unsigned threads : {2U, 3U, 7U, 16U}) {
    CAPTURE(threads);
    CHECK((runner.run(threads, part_bytes) == alone));
  }
}

TEST_CASE("threads: every operator's example gives the same bytes on any number of threads") {
  const cpu::SmallBlocks small(2);
  for (const std::string& name : specified_operators()) check_threads({name}, 8);
}

TEST_CASE("threads: works that are cut into blocks give the same bytes on any number of threads") {
  for (const std::uint64_t block : {16U, 100U}) {
    CAPTURE(block);
    const cpu::SmallBlocks small(block);
    for (const Work& work : cut_works()) check_threads(work, 64);
  }
}

/// Whether the passes of a work prepare something.
bool is_cut(const Work& work) {
  const Plan plan = as_passes(make_plan(described(work)));
  std::vector<std::vector<std::byte>> memory;
  for (const Pass& pass : plan.passes) {
    memory.clear();
    std::vector<std::span<const std::byte>> inputs;
    for (const std::size_t slot : pass.reads) memory.emplace_back(plan.slots[slot].bytes());
    for (const auto& bytes : memory) inputs.emplace_back(bytes);
    if (cpu::prepare(pass.kernel, inputs, 16)) return true;
  }
  return false;
}

TEST_CASE("threads: blocks are for few long rows, and tests can make them small") {
  const Work sum{"REDUCE",
                 {{"InputTensor", tensor("FLOAT32", {3, 50, 37})},
                  {"OutputTensor", tensor("FLOAT32", {1, 1, 1})},
                  {"Axes", {0, 1, 2}},
                  {"Function", "SUM"}}};
  CHECK_FALSE(is_cut(sum));
  const cpu::SmallBlocks small(16);
  for (const Work& work : cut_works()) {
    CAPTURE(work.name);
    CAPTURE(work.changes.dump());
    const bool has_short_rows = work.name == "REDUCE" && work.changes["Axes"] == Json{2};
    if (!has_short_rows || work.changes["Function"] == "LOG_SUM_EXP") CHECK(is_cut(work));
  }
}

}  // namespace
}  // namespace dmlop::test::threads_test
