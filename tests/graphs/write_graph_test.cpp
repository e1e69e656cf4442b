// What write_graph writes reads as the same graph.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "graph/graph.hpp"
#include "paths.hpp"

namespace dmlop::write_graph_test {

namespace dmlop {
namespace {

namespace fs = std::filesystem;

Graph read(const std::vector<std::byte>& bytes) {
  Diagnostics findings;
  auto graph = read_graph("graph.bin", bytes, findings);
  for (const Diagnostic& finding : findings) MESSAGE(finding.message);
  REQUIRE(graph);
  return std::move(*graph);
}

void check_same(const Graph& graph, const Graph& expected) {
  CHECK(graph.inputs == expected.inputs);
  CHECK(graph.outputs == expected.outputs);
  REQUIRE(graph.nodes.size() == expected.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    CAPTURE(graph.nodes[i].name);
    CHECK(graph.nodes[i] == expected.nodes[i]);
  }
}

void check_round_trip(const Graph& graph) {
  const auto bytes = write_graph(graph);
  CHECK(is_serialized_graph(bytes));
  check_same(read(bytes), graph);
}

std::vector<std::byte> bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

GraphTensor floats(std::vector<std::uint32_t> sizes) {
  return {.data_type = "DML_TENSOR_DATA_TYPE_FLOAT32", .sizes = std::move(sizes), .strides = {}};
}

}  // namespace

TEST_CASE("write_graph: every kind of value, of constant and of name") {
  GraphTensor strided = floats({2, 3});
  strided.strides = {0, 1};
  strided.total_size_in_bytes = 0x123456789AULL;
  const GraphActivation relu{"DML_OPERATOR_ACTIVATION_ELU", {{"Alpha", 0.5F}}};
  GraphScalar scalar;
  for (std::size_t i = 0; i < scalar.bytes.size(); ++i) scalar.bytes[i] = std::byte(i + 1);
  const Graph graph{
      .file = "",
      .inputs = {"x", "", "names / with \"all\" sorts: \xC3\xA9"},
      .outputs = {"y"},
      .nodes = {{"a name", GraphConstant{.name = "weights_1", .bytes = {}}, {}, {"w"}},
                {"raw", GraphConstant{.name = {}, .bytes = {std::byte{7}}}, {}, {"r"}},
                {"none", GraphConstant{.name = {}, .bytes = {}}, {}, {"n"}},
                {"everything",
                 GraphOperator{"DML_OPERATOR_OF_EVERYTHING",
                               {strided, floats({})},
                               {floats({4})},
                               {{"", std::monostate()},
                                {"Activation", relu},
                                {"Activations", std::vector<GraphActivation>{relu, relu}},
                                {"NoActivations", std::vector<GraphActivation>{}},
                                {"UInt32", std::uint32_t{0xFFFFFFFF}},
                                {"UInt64", std::uint64_t{0xFEDCBA9876543210}},
                                {"Int32", std::int32_t{-2}},
                                {"Float32", -0.1F},
                                {"UInts", std::vector<std::uint32_t>{1, 2, 3}},
                                {"Ints", std::vector<std::int32_t>{-1, 2}},
                                {"Floats", std::vector<float>{1.5F}},
                                {"NoFloats", std::vector<float>{}},
                                {"ScaleBias", GraphScaleBias{2, -3}},
                                {"Size", GraphSize2d{4, 5}},
                                {"Scalar", scalar},
                                {"True", true},
                                {"False", false}}},
                 {"x", "", "w"},
                 {"y", ""}}}};
  check_round_trip(graph);
}

TEST_CASE("write_graph: every graph that ONNX Runtime wrote") {
  int graphs = 0;
  for (const auto& entry : fs::recursive_directory_iterator(test::conformance_path("graphs"))) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("Partition_") || !name.ends_with(".bin")) continue;
    CAPTURE(entry.path().string());
    ++graphs;
    check_round_trip(read(bytes_of(entry.path())));
  }
  CHECK(graphs >= 47);
}

}  // namespace dmlop

}  // namespace dmlop::write_graph_test
