// Values of an ONNX model that have two uses: nodes that read them in either order, and the outputs
// of the model. With and without fusion the same outputs come out.
#include <doctest/doctest.h>

#include <algorithm>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test {
namespace {

using namespace onnx_bytes;

std::size_t operators_in(const Graph& graph) {
  return static_cast<std::size_t>(std::count_if(
      graph.nodes.begin(), graph.nodes.end(),
      [](const GraphNode& node) { return std::holds_alternative<GraphOperator>(node.content); }));
}

/// A node that writes "h", into which an activation can be fused.
struct Writer {
  const char* type;
  std::vector<std::string> inputs;
  bool has_all_activations = true;
};

const std::vector<Writer> writers{
    {"Gemm", {"x", "w"}},
    {"MatMul", {"x", "w"}},
    {"Conv", {"image", "filter"}},
    {"BatchNormalization", {"image", "s", "s", "s", "v"}},
    {"InstanceNormalization", {"image", "s", "s"}},
    {"Add", {"x", "x"}, false},
};

const std::map<std::string, Numbers> inputs{
    {"x", some_numbers({2, 3}, 1)},
    {"w", some_numbers({3, 5}, 2)},
    {"image", some_numbers({2, 3, 4, 5}, 3)},
    {"filter", some_numbers({4, 3, 2, 2}, 4)},
    {"s", some_numbers({3}, 5)},
    {"v", {{3}, {0.5, 2, 1}}},
};

std::vector<std::string> values_of(const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) {
    const auto found = inputs.find(name);
    std::vector<std::string> sizes;
    if (found != inputs.end()) {
      for (const std::uint64_t size : found->second.sizes) sizes.push_back(std::to_string(size));
    }
    values.push_back(value(name, sizes));
  }
  return values;
}

/// A model with all nodes, and those of `inputs` that they read.
std::string model_of(const std::vector<std::string>& nodes, std::vector<std::string> read,
                     const std::vector<std::string>& outputs) {
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  return model({.nodes = nodes, .inputs = values_of(read), .outputs = values_of(outputs)});
}

std::map<std::string, Numbers> given(const std::vector<std::string>& read) {
  std::map<std::string, Numbers> files;
  for (const std::string& name : read) files.emplace(name, inputs.at(name));
  return files;
}

/// Runs a model with fusion and without, and compares. Returns how many operators fusion saves.
std::size_t fused_operators(const Writer& writer, std::vector<std::string> readers,
                            const std::vector<std::string>& outputs) {
  readers.insert(readers.begin(), node(writer.type, writer.inputs, {"h"}));
  const std::string bytes = model_of(readers, writer.inputs, outputs);
  const OnnxRun plain = run_onnx(bytes, given(writer.inputs));
  const OnnxRun fused = run_onnx(bytes, given(writer.inputs), true);
  CHECK(plain.findings == "");
  CHECK(fused.findings == "");
  REQUIRE(plain.outputs.size() == outputs.size());
  REQUIRE(fused.outputs.size() == outputs.size());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    CHECK(difference(fused.outputs[i], plain.outputs[i]) == "");
  return operators_in(plain.graph) - operators_in(fused.graph);
}

}  // namespace

TEST_CASE("onnx uses: an activation is fused only if nothing else reads what it reads") {
  const std::string relu = node("Relu", {"h"}, {"y"}), neg = node("Neg", {"h"}, {"z"});
  const std::string other = node("Relu", {"h"}, {"z"}), twice = node("Add", {"h", "h"}, {"z"});
  const std::string next = node("Neg", {"y"}, {"z"}), second = node("Sigmoid", {"y"}, {"z"});
  for (const Writer& writer : writers) {
    CAPTURE(std::string(writer.type));
    CHECK(fused_operators(writer, {relu}, {"y"}) == 1);
    // The value is an output of the model, too.
    CHECK(fused_operators(writer, {relu}, {"y", "h"}) == 0);
    CHECK(fused_operators(writer, {relu}, {"h", "y"}) == 0);
    // Another node reads it, before or after.
    for (const std::string& reader : {neg, other, twice}) {
      CHECK(fused_operators(writer, {relu, reader}, {"y", "z"}) == 0);
      CHECK(fused_operators(writer, {reader, relu}, {"y", "z"}) == 0);
      CHECK(fused_operators(writer, {reader, relu}, {"z", "y"}) == 0);
      CHECK(fused_operators(writer, {relu, reader}, {"y", "h", "z"}) == 0);
    }
    // What the activation writes may have any uses.
    CHECK(fused_operators(writer, {relu, next}, {"z"}) == 1);
    CHECK(fused_operators(writer, {relu, next}, {"y", "z"}) == 1);
    CHECK(fused_operators(writer, {relu, next}, {"z", "y"}) == 1);
    // There is one activation in an operator.
    CHECK(fused_operators(writer, {relu, second}, {"z"}) == 1);
    CHECK(fused_operators(writer, {relu, second}, {"y", "z"}) == 1);
  }
}

TEST_CASE("onnx uses: activations that are fused compute the same") {
  for (const char* type : {"Elu", "HardSigmoid", "LeakyRelu", "Relu", "Selu", "ScaledTanh",
                           "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"}) {
    for (const Writer& writer : writers) {
      CAPTURE(std::string(type));
      CAPTURE(std::string(writer.type));
      std::vector<std::string> attributes;
      if (std::string(type) == "ScaledTanh") attributes = {real("alpha", 2), real("beta", 0.5F)};
      if (std::string(type) == "LeakyRelu") attributes = {real("alpha", 0.25F)};
      const bool is_fused = writer.has_all_activations || std::string(type) == "Relu";
      CHECK(fused_operators(writer, {node(type, {"h"}, {"y"}, attributes)}, {"y"}) ==
            (is_fused ? 1 : 0));
      CHECK(fused_operators(writer, {node(type, {"h"}, {"y"}, attributes)}, {"y", "h"}) == 0);
    }
  }
}

TEST_CASE("onnx uses: an input or an initializer may be an output, too") {
  const Numbers& x = inputs.at("x");
  Numbers doubled = x;
  for (double& number : doubled.values) number *= 2;
  std::vector<float> values(x.values.begin(), x.values.end());
  for (const std::vector<std::string>& outputs :
       {std::vector<std::string>{"x", "y"}, {"y", "x"}, {"x"}, {"y"}}) {
    const std::vector<std::string> nodes{node("Add", {"x", "x"}, {"y"})};
    const OnnxRun of_input = run_onnx(model_of(nodes, {"x"}, outputs), given({"x"}));
    const OnnxRun of_initializer =
        run_onnx(model({.nodes = nodes,
                        .initializers = {tensor("x", 1, {2, 3}, raw_floats(values))},
                        .inputs = {},
                        .outputs = values_of(outputs)}),
                 {});
    for (const OnnxRun* run : {&of_input, &of_initializer}) {
      CHECK(run->findings == "");
      REQUIRE(run->outputs.size() == outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i)
        CHECK(difference(run->outputs[i], outputs[i] == "x" ? x : doubled) == "");
    }
  }
}

}  // namespace dmlop::test
