// dmlop bench on descriptions without files, with made-up inputs.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "program.hpp"

namespace dmlop::test {
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

TEST_CASE("bench: a strided input is the buffer that its strides reach") {
  const Json rows{{"DataType", "FLOAT32"}, {"Sizes", {4, 5}}, {"Strides", {0, 1}}};
  const Json result = measured(edge_padding(rows), "cpu");
  CHECK(result.at("inputBytes") == 5 * 4);
  CHECK(result.at("outputBytes") == 35 * 4);
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
}  // namespace dmlop::test
