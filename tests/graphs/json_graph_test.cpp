// Graphs as JSON: what follows from edges may be left out, and the same graph comes back.
#include "graph/json_graph.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "graph/describe.hpp"
#include "model/open.hpp"
#include "paths.hpp"

namespace dmlop::json_graph_test {

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Read {
  std::optional<Graph> graph;
  Diagnostics findings;
};

Read read(const std::string& text, const std::string& file = "graph.json") {
  Read result;
  auto document = json::Document::parse(file, text, result.findings);
  if (!document) return result;
  auto shared = std::make_shared<const json::Document>(std::move(*document));
  REQUIRE(is_graph(shared->root()));
  result.graph = read_json_graph(std::move(shared), {}, result.findings);
  return result;
}

std::string messages(const Diagnostics& findings) {
  std::string text;
  for (const Diagnostic& finding : findings)
    text += std::to_string(finding.line) + ": " + finding.message + "\n";
  return text;
}

constexpr const char* chain = R"({
  "inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [1, 1, 2, 2]}],
  "nodes": [
    {"name": "pad", "type": "PADDING", "bindings": {"InputTensor": "x", "OutputTensor": "padded"},
     "desc": {"PaddingMode": "EDGE", "StartPadding": [0, 0, 1, 1], "EndPadding": [0, 0, 1, 1]}},
    {"type": "ACTIVATION_RELU", "bindings": {"InputTensor": "padded", "OutputTensor": "y"}}
  ]
})";

std::vector<std::byte> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// The operators of a graph, and its constants by edge: their nodes may have other names and
/// places.
std::map<std::string, GraphConstant> constants_of(const Graph& graph) {
  std::map<std::string, GraphConstant> constants;
  for (const GraphNode& node : graph.nodes) {
    const auto* constant = std::get_if<GraphConstant>(&node.content);
    for (const std::string& edge : node.outputs) {
      if (constant != nullptr) constants[edge] = *constant;
    }
  }
  return constants;
}

std::vector<GraphNode> operators_of(const Graph& graph) {
  std::vector<GraphNode> nodes;
  for (const GraphNode& node : graph.nodes) {
    if (std::holds_alternative<GraphOperator>(node.content)) nodes.push_back(node);
  }
  return nodes;
}

}  // namespace

TEST_CASE("json graph: a scalar of type UNKNOWN has the type of the tensors") {
  const GraphTensor floats{.data_type = "DML_TENSOR_DATA_TYPE_FLOAT32",
                           .sizes = {2},
                           .strides = {},
                           .total_size_in_bytes = 8};
  const auto scalar = [](float number) {
    GraphScalar value;
    std::memcpy(value.bytes.data(), &number, sizeof number);
    return value;
  };
  const GraphNode node{.name = "clip",
                       .content = GraphOperator{"DML_OPERATOR_ELEMENT_WISE_CLIP1",
                                                {floats},
                                                {floats},
                                                {{"", std::monostate()},
                                                 {"MinMaxDataType", std::uint32_t{0}},
                                                 {"Min", scalar(-1.5F)},
                                                 {"Max", scalar(0.25F)}}},
                       .inputs = {"x"},
                       .outputs = {"y"}};
  std::vector<std::string> messages;
  const auto described =
      describe(node, std::get<GraphOperator>(node.content), messages).description;
  CHECK(messages.empty());
  CHECK(described["desc"]["Min"] == -1.5);
  CHECK(described["desc"]["Max"] == 0.25);
}

TEST_CASE("json graph: two operators in ten lines") {
  const Read result = read(chain);
  CHECK(messages(result.findings) == "");
  REQUIRE(result.graph);
  const Graph& graph = *result.graph;
  CHECK(graph.inputs == std::vector<std::string>{"x"});
  CHECK(graph.outputs == std::vector<std::string>{"y"});
  REQUIRE(graph.nodes.size() == 2);
  CHECK(graph.nodes[1].name == "ACTIVATION_RELU_1");
  const auto& relu = std::get<GraphOperator>(graph.nodes[1].content);
  CHECK(relu.type == "DML_OPERATOR_ACTIVATION_RELU");
  CHECK(relu.inputs.at(0).sizes == std::vector<std::uint32_t>{1, 1, 4, 4});
  CHECK(relu.outputs.at(0).total_size_in_bytes == 64);
  CHECK(graph.nodes[1].inputs == std::vector<std::string>{"padded"});
}

TEST_CASE("json graph: every mistake has its place") {
  const Read wrong = read(R"({"nodes": [
      {"type": "ACTIVATION_RELU", "bindings": {"InputTensor": "paded", "OutputTensor": "y"}},
      {"type": "ACTIVATION_RELU", "bindings": {"InputTensor": "y", "OutputTensor": "z"}},
      {"type": "ACTIVATION_TANH", "bindings": {"OutputTensor": "u"},
       "desc": {"InputTensor": {"DataType": "FLOAT32", "Sizes": [2]}}},
      {"type": "PADING", "desc": {}},
      {"type": "ACTIVATION_TANH", "bindings": {"InputTensor": "c", "OutputTensor": "c"}},
      {"type": "ACTIVATION_TANH", "bindings": {"InputTensor": "i", "OutputTensor": "v"}}],
    "constants": {"c": {"DataType": "FLOAT32", "Sizes": [2], "Values": [1, 2]},
      "d": {"DataType": "FLOAT32", "Sizes": [2], "Values": [1, 2, 3]},
      "i": {"DataType": "INT32", "Sizes": [1], "Values": [1]},
      "e": "nowhere.npy"},
    "inputs": [{"DataType": "FLOAT32"}, 7],
    "outputs": ["missing"], "edges": 1})");
  // What reads the output of a node with findings has none for that.
  CHECK(messages(wrong.findings) ==
        "2: bindings.InputTensor is the edge \"paded\", which is neither an input, a constant "
        "nor the output of an earlier node\n"
        "5: InputTensor has no edge\n"
        "6: type is the string \"PADING\", which is not an operator of DirectML\n"
        "7: the edge \"c\" already exists, see line 9\n"
        "8: InputTensor.DataType is INT32, must be one of FLOAT32, FLOAT16\n"
        "10: constants.d.Values has 3 values, must have 2\n"
        "12: constants.e: reading nowhere.npy: No such file or directory\n"
        "13: the field \"name\" is missing\n"
        "13: inputs[1] is 7, must be a name, an object with a name, or null for one that is not "
        "used\n"
        "14: outputs[0] is \"missing\", which no node writes\n"
        "14: unknown field \"edges\"\n");
}

TEST_CASE("json graph: an edge that is not there has a remedy") {
  const auto remedies = [](const std::string& inputs, const std::string& nodes) {
    std::string text;
    for (const auto& finding : read("{" + inputs + "\"nodes\": [" + nodes + "]}").findings)
      text += finding.suggestion.text() + "\n";
    return text;
  };
  const auto node = [](const std::string& from, const std::string& to) {
    return R"({"type": "ACTIVATION_TANH", "bindings": {"InputTensor": ")" + from +
           R"(", "OutputTensor": ")" + to + "\"}}";
  };
  const std::string inputs =
      R"("inputs": [{"name": "image", "DataType": "FLOAT32", "Sizes": [1, 4]}], )";
  CHECK(remedies(inputs, node("x", "y") + ", " + node("image", "x")) ==
        "move nodes[1], which writes it, in front of this node; a graph has no cycles\n");
  CHECK(remedies(inputs, node("imagee", "x")) == "did you mean \"image\"?\n");
  CHECK(remedies(inputs, node("photo", "x")) ==
        "add \"photo\" to inputs, or write one of these: image\n");
  CHECK(remedies("", node("photo", "x")) == "add \"photo\" to inputs\n");
}

TEST_CASE("json graph: nodes may share a name, but not the edge that is named after them") {
  const auto node = [](const std::string& output) {
    return R"({"name": "a", "type": "ACTIVATION_TANH",
      "bindings": {"InputTensor": "x")" +
           output + "}}";
  };
  const std::string inputs =
      R"({"inputs": [{"name": "x", "DataType": "FLOAT32", "Sizes": [2]}], "nodes": [)";
  CHECK(messages(
            read(inputs + node(R"(, "OutputTensor": "y")") + ",\n" + node("") + "]}").findings) ==
        "");
  const Read wrong = read(inputs + node("") + ",\n" + node("") + "]}");
  CHECK(messages(wrong.findings) == "3: the edge \"a.OutputTensor\" already exists, see line 1\n");
  REQUIRE(wrong.findings.size() == 1);
  CHECK(wrong.findings[0].suggestion.text() ==
        "give the node another name, or write \"OutputTensor\": \"NAME\" in its bindings");
}

TEST_CASE("json graph: a graph has a node") {
  CHECK(messages(read(R"({"nodes": []})").findings) ==
        "1: nodes is an empty array, must be a list of at least one node\n");
}

TEST_CASE("json graph: every graph that ONNX Runtime wrote comes back equal") {
  int graphs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::conformance_path("graphs"))) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("Partition_") || !name.ends_with(".bin")) continue;
    const std::string path = entry.path().string();
    CAPTURE(path);
    ++graphs;
    Diagnostics findings;
    const auto graph = read_graph(path, bytes_of(path), findings);
    REQUIRE(graph);
    const std::string beside = (entry.path().parent_path() / "graph.json").string();
    const Read back = read(json_of(*graph, beside).dump(), beside);
    CHECK(messages(back.findings) == "");
    if (!back.graph) continue;
    CHECK(back.graph->inputs == graph->inputs);
    CHECK(back.graph->outputs == graph->outputs);
    const auto nodes = operators_of(*back.graph), expected = operators_of(*graph);
    REQUIRE(nodes.size() == expected.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      CAPTURE(expected[i].name);
      CHECK(nodes[i].name == expected[i].name);
      CHECK(nodes[i].inputs == expected[i].inputs);
      REQUIRE(nodes[i].outputs.size() == expected[i].outputs.size());
      for (std::size_t j = 0; j < nodes[i].outputs.size(); ++j) {
        // An output that nothing reads gets a name, which ONNX Runtime needs.
        if (!expected[i].outputs[j].empty()) CHECK(nodes[i].outputs[j] == expected[i].outputs[j]);
      }
      CHECK(std::get<GraphOperator>(nodes[i].content) ==
            std::get<GraphOperator>(expected[i].content));
    }
    const auto constants = constants_of(*back.graph);
    CHECK(constants.size() == constants_of(*graph).size());
    for (const auto& [edge, constant] : constants_of(*graph)) {
      CAPTURE(edge);
      REQUIRE(constants.contains(edge));
      if (!constant.name) CHECK(constants.at(edge).bytes == constant.bytes);
      if (constant.name)
        CHECK(fs::path(constants.at(edge).path).filename() == *constant.name + ".bin");
    }
  }
  CHECK(graphs >= 47);
}

}  // namespace dmlop

}  // namespace dmlop::json_graph_test
