// Tensors, edges, nodes and dimensions with names of every kind, through the C++ and the C
// interface.
#include <dmlop/dmlop.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <dmlop/dmlop.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "onnx_writer.hpp"

namespace dmlop::public_names_test {
namespace {

using Json = nlohmann::ordered_json;
namespace onnx = dmlop::test::onnx_bytes;
using Names = std::vector<std::string>;

const Names names{"a=b",
                  "=",
                  "a=",
                  "=b",
                  "a=1",
                  "a=1=2",
                  "a,b",
                  ",",
                  "a,",
                  ",b",
                  "a=b,c=d",
                  "a b",
                  " ",
                  " a",
                  "a ",
                  "\"a\"",
                  "\"",
                  "'a'",
                  "a\\b",
                  "a/b",
                  "/",
                  "../a",
                  "/tmp/a",
                  "a:b",
                  "C:/a",
                  "[0]",
                  "a[0]",
                  "{a}",
                  "<a>",
                  "%s",
                  "$a",
                  "#a",
                  "a\tb",
                  "a\nb",
                  "\xC3\xA4",
                  "\xE6\x97\xA5\xE6\x9C\xAC",
                  "\xF0\x9F\x90\x9F",
                  "null",
                  "0",
                  "-1",
                  "x.npy",
                  "CON",
                  "A",
                  "a"};

/// x -> ABS -> m -> NEGATE -> y of three FLOAT32.
Json graph_of(const std::string& x, const std::string& m, const std::string& y) {
  return {{"inputs", Json::array({{{"name", x}, {"DataType", "FLOAT32"}, {"Sizes", {3}}}})},
          {"nodes", Json::array({{{"name", x + m},
                                  {"type", "ELEMENT_WISE_ABS"},
                                  {"bindings", {{"InputTensor", x}, {"OutputTensor", m}}},
                                  {"desc", Json::object()}},
                                 {{"name", m + y},
                                  {"type", "ELEMENT_WISE_NEGATE"},
                                  {"bindings", {{"InputTensor", m}, {"OutputTensor", y}}},
                                  {"desc", Json::object()}}})}};
}

/// y = Relu(x), both of two dimensions that only have names.
std::string model_of(const std::string& x, const std::string& y, const Names& sizes) {
  return onnx::model({.nodes = {onnx::node("Relu", {x}, {y})},
                      .inputs = {onnx::value(x, sizes)},
                      .outputs = {onnx::value(y, sizes)}});
}

const std::vector<float> numbers{-1, 2, -3};

/// What a graph gives: the names of its nodes, and its tensors, edges last.
Json expected_run(const std::string& x, const std::string& m, const std::string& y) {
  const Json result = Json::array({y, {-1, -2, -3}}), edge = Json::array({m, {1, 2, 3}});
  return {{"nodes", {x + m, m + y}}, {"tensors", Json::array({result, edge, result})}};
}

Json run_in_cpp(const std::string& text, const std::string& input) {
  static dmlop::Runner cpu({.device = "cpu"});
  const dmlop::Program program({.text = text});
  REQUIRE(program.inputs().size() == 1);
  CHECK(program.inputs()[0].name == input);
  Json run{{"nodes", Json::array()}, {"tensors", Json::array()}};
  for (const auto& node : program.nodes()) run["nodes"].push_back(node.name);
  std::vector<dmlop::Tensor> edges;
  auto tensors = cpu.run(program, {{input, dmlop::view(numbers, {3})}}, &edges);
  for (auto& edge : edges) tensors.push_back(std::move(edge));
  for (const auto& tensor : tensors) {
    const auto elements = tensor.elements<float>();
    run["tensors"].push_back(
        Json::array({tensor.name, std::vector<float>(elements.begin(), elements.end())}));
  }
  return run;
}

/// A call of the C interface that must succeed.
template <typename Action>
void succeed(Action&& action) {
  dmlop_error* error = nullptr;
  const dmlop_status status = action(&error);
  CHECK(std::string(dmlop_error_message(error)) == "");
  dmlop_error_free(error);
  REQUIRE(status == DMLOP_DONE);
}

struct ProgramOfC {
  explicit ProgramOfC(const std::string& text, const char* dimensions = nullptr) {
    dmlop_operation source = DMLOP_OPERATION;
    source.text = text.data();
    source.text_size = text.size();
    source.dimensions = dimensions;
    succeed([&](dmlop_error** error) { return dmlop_load(&source, &program, error); });
  }
  ~ProgramOfC() { dmlop_program_free(program); }
  ProgramOfC(const ProgramOfC&) = delete;
  dmlop_program* program = nullptr;
};

dmlop_context* cpu_of_c() {
  static dmlop_context* const context = [] {
    dmlop_context_options options = DMLOP_CONTEXT_OPTIONS;
    options.device = "cpu";
    dmlop_context* opened = nullptr;
    succeed([&](dmlop_error** error) { return dmlop_open(&options, &opened, error); });
    return opened;
  }();
  return context;
}

Json run_in_c(const std::string& text, const std::string& input) {
  const ProgramOfC made(text);
  REQUIRE(dmlop_program_inputs(made.program).count == 1);
  CHECK(dmlop_program_inputs(made.program).items[0].name == input);
  Json run{{"nodes", Json::array()}, {"tensors", Json::array()}};
  char* report = nullptr;
  succeed([&](dmlop_error** error) { return dmlop_program_report(made.program, &report, error); });
  const Json parsed = Json::parse(report);
  for (const Json& node : parsed.at("nodes")) run["nodes"].push_back(node.at("name"));
  dmlop_text_free(report);
  auto elements = numbers;
  const std::uint64_t size = 3;
  const dmlop_tensor tensor{input.c_str(), nullptr, elements.data(), 12, &size,
                            nullptr,       1,       DMLOP_FLOAT32};
  dmlop_call call = DMLOP_CALL;
  call.keep_edges = 1;
  dmlop_result* result = nullptr;
  succeed([&](dmlop_error** error) {
    return dmlop_program_run(cpu_of_c(), made.program, &tensor, 1, &call, &result, error);
  });
  for (const dmlop_tensors& list : {dmlop_result_outputs(result), dmlop_result_edges(result)}) {
    for (std::size_t i = 0; i < list.count; ++i) {
      std::vector<float> values(list.items[i].bytes / 4);
      std::memcpy(values.data(), list.items[i].data, list.items[i].bytes);
      run["tensors"].push_back(Json::array({list.items[i].name, values}));
    }
  }
  dmlop_result_free(result);
  return run;
}

}  // namespace

TEST_CASE("names: inputs, edges, outputs and nodes of a graph have any") {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string &x = names[i], &m = names[(i + 1) % names.size()],
                      &y = names[(i + 7) % names.size()];
    CAPTURE(x);
    CAPTURE(m);
    CAPTURE(y);
    const std::string text = graph_of(x, m, y).dump();
    const Json expected = expected_run(x, m, y);
    CHECK(run_in_cpp(text, x) == expected);
    CHECK(run_in_c(text, x) == expected);
  }
}

TEST_CASE("names: tensors and dimensions of an ONNX model have any") {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string &x = names[i], &y = names[(i + 7) % names.size()];
    const std::string rows = x.find_first_not_of("0123456789") == std::string::npos ? "n" : x;
    CAPTURE(x);
    CAPTURE(y);
    const std::string model = model_of(x, y, {rows, "columns"});
    const dmlop::Program program({.text = model, .dimensions = {{rows, 2}, {"columns", 3}}});
    for (const std::string& text : {rows + "=2,columns=3", "columns=3," + rows + "=2"}) {
      CAPTURE(text);
      const ProgramOfC of_c(model, text.c_str());
      const dmlop_tensors inputs = dmlop_program_inputs(of_c.program);
      const dmlop_tensors outputs = dmlop_program_outputs(of_c.program);
      REQUIRE(inputs.count == 1);
      REQUIRE(outputs.count == 1);
      CHECK(inputs.items[0].name == x);
      CHECK(outputs.items[0].name == y);
      CHECK(inputs.items[0].sizes[0] == 2);
      CHECK(inputs.items[0].sizes[1] == 3);
    }
    REQUIRE(program.inputs().size() == 1);
    REQUIRE(program.outputs().size() == 1);
    CHECK(program.inputs()[0].name == x);
    CHECK(program.outputs()[0].name == y);
    CHECK(program.inputs()[0].sizes == std::vector<std::uint64_t>{2, 3});
  }
}

}  // namespace dmlop::public_names_test
