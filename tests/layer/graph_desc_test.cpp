// Graphs as an application hands them to CompileGraph: those of ONNX Runtime are put into memory
// and read back; indices, nodes and cycles that are wrong; and what is said about a refused graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "base/text.hpp"
#include "described.hpp"
#include "folder.hpp"
#include "graph.hpp"
#include "graph/describe.hpp"
#include "graph/from_description.hpp"
#include "layer/explain.hpp"
#include "struct_builder.hpp"

namespace dmlop::graph_desc_test {
namespace {

using Json = nlohmann::ordered_json;

using namespace dmlop::layer;
using test::messages_of;
using test::StructBuilder;

/// A graph in memory. The structs may be changed before they are read.
class GraphInMemory {
 public:
  explicit GraphInMemory(const Graph& graph) : graph_(graph) {
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) add_node(graph.nodes[i], i);
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) add_edges(graph.nodes[i], i);
    for (std::uint32_t i = 0; i < graph.outputs.size(); ++i) {
      const auto [node, output] = sources_.at(graph.outputs[i]);
      outputs.push_back({node, output, i, name(graph.outputs[i])});
    }
    desc.input_count = static_cast<std::uint32_t>(graph.inputs.size());
    desc.output_count = static_cast<std::uint32_t>(graph.outputs.size());
  }

  std::optional<Graph> read(Diagnostics& findings) {
    std::vector<TypedDesc> input_edges, output_edges, between_edges;
    for (const InputEdgeDesc& edge : inputs) input_edges.push_back({1, builder.keep(edge)});
    for (const OutputEdgeDesc& edge : outputs) output_edges.push_back({2, builder.keep(edge)});
    for (const IntermediateEdgeDesc& edge : between)
      between_edges.push_back({3, builder.keep(edge)});
    GraphDesc made = desc;
    made.node_count = static_cast<std::uint32_t>(nodes.size());
    made.nodes = builder.keep(nodes);
    made.input_edge_count = static_cast<std::uint32_t>(input_edges.size());
    made.input_edges = builder.keep(input_edges);
    made.output_edge_count = static_cast<std::uint32_t>(output_edges.size());
    made.output_edges = builder.keep(output_edges);
    made.intermediate_edge_count = static_cast<std::uint32_t>(between_edges.size());
    made.intermediate_edges = builder.keep(between_edges);
    const FindOperator find = [&](Address address) {
      const auto found = operators.find(address);
      return found == operators.end() ? nullptr : found->second;
    };
    return read_graph_desc(builder.keep(made), find, findings);
  }

  std::string findings() {
    Diagnostics found;
    const auto read_back = read(found);
    CHECK(read_back.has_value() == found.empty());
    return messages_of(found);
  }

  Address name(const std::string& text) {
    return builder.keep(std::vector<char>(text.c_str(), text.c_str() + text.size() + 1));
  }

  StructBuilder builder;
  GraphDesc desc{};
  std::vector<TypedDesc> nodes;
  std::vector<InputEdgeDesc> inputs;
  std::vector<OutputEdgeDesc> outputs;
  std::vector<IntermediateEdgeDesc> between;
  std::map<Address, std::shared_ptr<const ReadOperator>> operators;

 private:
  void add_node(const GraphNode& node, std::uint32_t index) {
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
      if (!node.outputs[i].empty()) sources_[node.outputs[i]] = {index, i};
    }
    if (const auto* operation = std::get_if<GraphOperator>(&node.content)) {
      const Address address = 0x1000 + index;  // an object that nobody looks into
      operators[address] = read_operation(node, *operation);
      nodes.push_back({1, builder.keep(OperatorNodeDesc{address, name(node.name)})});
    } else {
      const Address bytes = builder.keep(std::vector<std::uint32_t>{1, 2});
      nodes.push_back({2, builder.keep(ConstantNodeDesc{bytes, 8, name(node.name)})});
    }
  }

  std::shared_ptr<const ReadOperator> read_operation(const GraphNode& node,
                                                     const GraphOperator& operation) {
    std::vector<std::string> messages;
    const auto described = describe(node, operation, messages);
    const auto checked = test::check_desc(described.description["type"],
                                          described.description["desc"], Judge::directml);
    REQUIRE_MESSAGE(checked.diagnostics.empty(), messages_of(checked.diagnostics));
    Diagnostics findings;
    auto read_back = read_operator(builder.build(*checked.description), findings);
    REQUIRE_MESSAGE(read_back.has_value(), messages_of(findings));
    return std::make_shared<const ReadOperator>(std::move(*read_back));
  }

  void add_edges(const GraphNode& node, std::uint32_t index) {
    for (std::uint32_t i = 0; i < node.inputs.size(); ++i) {
      const std::string& edge = node.inputs[i];
      if (edge.empty()) continue;
      if (const auto source = sources_.find(edge); source != sources_.end()) {
        between.push_back({source->second.first, source->second.second, index, i, name(edge)});
        continue;
      }
      const auto input = std::ranges::find(graph_.inputs, edge) - graph_.inputs.begin();
      inputs.push_back({static_cast<std::uint32_t>(input), index, i, name(edge)});
    }
  }

  const Graph& graph_;
  std::map<std::string, std::pair<std::uint32_t, std::uint32_t>> sources_;
};

/// The nodes of a graph with the bytes of constants left out, and without the places at the end of
/// a node's inputs that have no edge: ONNX Runtime may leave these away.
std::vector<GraphNode> nodes_of(const Graph& graph) {
  std::vector<GraphNode> nodes = graph.nodes;
  for (GraphNode& node : nodes) {
    if (std::holds_alternative<GraphConstant>(node.content)) node.content = GraphConstant();
    // Bytes that a scalar of no type has beyond those of its tensor's type are not kept.
    if (auto* operation = std::get_if<GraphOperator>(&node.content);
        operation != nullptr && operation->type == "DML_OPERATOR_ELEMENT_WISE_CLIP1")
      operation->attributes.clear();
    while (!node.inputs.empty() && node.inputs.back().empty()) node.inputs.pop_back();
    while (!node.outputs.empty() && node.outputs.back().empty()) node.outputs.pop_back();
  }
  return nodes;
}

GraphOperator example_of(const std::string& name) {
  const auto checked =
      test::check_desc(name, Json::parse(find_spec(name)->example), Judge::directml);
  return graph_operator(*checked.description);
}

/// x -> first -> m -> second -> y
Graph graph_of_two() {
  return {.file = "",
          .inputs = {"x"},
          .outputs = {"y"},
          .nodes = {{"first", example_of("ACTIVATION_RELU"), {"x"}, {"m"}},
                    {"second", example_of("ACTIVATION_TANH"), {"m"}, {"y"}}}};
}

/// What is said of that graph after `damage` changed it.
std::string finding_after(const std::function<void(GraphInMemory&)>& damage) {
  const Graph graph = graph_of_two();
  GraphInMemory memory(graph);
  damage(memory);
  return memory.findings();
}

}  // namespace

TEST_CASE("layer: the graphs of ONNX Runtime are read back from memory") {
  std::size_t graphs = 0;
  for (const test::GraphCase& graph_case : test::graph_cases()) {
    for (const std::string& path : graph_case.graphs()) {
      CAPTURE(path);
      const Graph graph = test::valid_graph(path);
      Diagnostics findings;
      const auto read = GraphInMemory(graph).read(findings);
      REQUIRE_MESSAGE(read.has_value(), messages_of(findings));
      CHECK(read->inputs == graph.inputs);
      CHECK(read->outputs == graph.outputs);
      CHECK(nodes_of(*read) == nodes_of(graph));
      ++graphs;
    }
  }
  CHECK(graphs >= 47);
}

TEST_CASE("layer: edges and nodes of a graph that are wrong become findings") {
  const auto after = finding_after;
  CHECK(after([](auto&) {}) == "");
  CHECK(after([](auto& g) { g.inputs[0].graph_input = 1; }) ==
        "InputEdges[0].Desc->GraphInputIndex is 1, must be below 1");
  CHECK(after([](auto& g) { g.inputs[0].to_node = 2; }) ==
        "InputEdges[0].Desc->ToNodeIndex is 2, must be below 2");
  CHECK(after([](auto& g) { g.inputs[0].to_input = 7; }) ==
        "InputEdges[0].Desc->ToNodeInputIndex is 7, must be below 1");
  CHECK(after([](auto& g) { g.outputs[0].from_output = 1; }) ==
        "OutputEdges[0].Desc->FromNodeOutputIndex is 1, must be below 1");
  CHECK(after([](auto& g) { g.outputs[0].graph_output = ~0U; }) ==
        "OutputEdges[0].Desc->GraphOutputIndex is 4294967295, must be below 1");
  CHECK(after([](auto& g) { g.between[0].from_node = 2; }) ==
        "IntermediateEdges[0].Desc->FromNodeIndex is 2, must be below 2");
  CHECK(after([](auto& g) { g.between.push_back(g.between[0]); }) ==
        "IntermediateEdges[1].Desc->ToNodeInputIndex is 0, an input of node \"second\" "
        "(DML_OPERATOR_ACTIVATION_TANH) that another edge goes to");
  CHECK(after([](auto& g) { g.between[0].from_node = 1; }) ==
        "node \"second\" (DML_OPERATOR_ACTIVATION_TANH) waits for its own output");
  CHECK(after([](auto& g) { g.operators.erase(0x1001); }) ==
        "Nodes[1].Desc->Operator is 0x0000000000001001, which is not an operator");
  CHECK(after([](auto& g) {
          g.nodes[0] = {1, 0x10};
        }) ==
        "Nodes[0].Desc is 0x0000000000000010, where no DML_OPERATOR_GRAPH_NODE_DESC can be read");
  CHECK(after([](auto& g) { g.nodes[0].type = 5; }) ==
        "Nodes[0].Type is 5, which is no DML_GRAPH_NODE_TYPE");
  CHECK(after([](auto& g) {
          g.nodes.push_back({2, g.builder.keep(ConstantNodeDesc{0x10, ~0ULL, 0})});
        }) ==
        "Nodes[2].Desc->Data is 0x0000000000000010, where 18446744073709551615 bytes cannot "
        "be read");
  CHECK(after([](auto& g) { g.desc.input_count = ~0U; }) ==
        "InputCount is 4294967295 and OutputCount is 1, must be at most 65536");
}

TEST_CASE("layer: counts and pointers of a graph are bounded") {
  const FindOperator none = [](Address) { return nullptr; };
  const auto said_of = [&](const GraphDesc& desc) {
    StructBuilder builder;
    Diagnostics findings;
    CHECK_FALSE(read_graph_desc(builder.keep(desc), none, findings));
    return messages_of(findings);
  };
  CHECK(said_of({.node_count = ~0U}) == "NodeCount is 4294967295, must be at most 10000");
  CHECK(said_of({.node_count = 1, .nodes = 0}) == "Nodes is null, and NodeCount is 1");
  CHECK(said_of({.input_edge_count = ~0U}) ==
        "InputEdgeCount is 4294967295, must be at most 1000000");
  CHECK(said_of({.intermediate_edge_count = 3, .intermediate_edges = 0x10}) ==
        "IntermediateEdges is 0x0000000000000010, where 3 elements cannot be read");
  Diagnostics findings;
  CHECK_FALSE(read_graph_desc(0, none, findings));
  CHECK_FALSE(read_graph_desc(0x10, none, findings));
  CHECK(messages_of(findings) ==
        "desc is null, must point to a DML_GRAPH_DESC; desc is "
        "0x0000000000000010, where no DML_GRAPH_DESC can be read");
}

TEST_CASE("layer: nodes are put into an order in which they can run, and edges get names") {
  const Graph graph = graph_of_two();
  GraphInMemory memory(graph);
  std::swap(memory.nodes[0], memory.nodes[1]);
  memory.inputs[0].to_node = memory.between[0].from_node = 1;
  memory.between[0].to_node = memory.outputs[0].from_node = 0;
  memory.between[0].name = memory.inputs[0].name = memory.outputs[0].name = 0;
  Diagnostics findings;
  const auto read = memory.read(findings);
  REQUIRE_MESSAGE(read.has_value(), messages_of(findings));
  CHECK(read->nodes[0].name == "first");
  CHECK(read->nodes[1].name == "second");
  CHECK(read->inputs == std::vector<std::string>{"input0"});
  CHECK(read->nodes[0].outputs == std::vector<std::string>{"first.0"});
  CHECK(read->nodes[1].inputs == std::vector<std::string>{"first.0"});
  CHECK(read->outputs == std::vector<std::string>{"second.0"});
}

TEST_CASE("layer: of edges with the same name, outputs keep it before inputs and all others") {
  // p, q -> add -> m -> relu -> y; m is an output, too.
  const Graph graph{.file = "",
                    .inputs = {"p", "q"},
                    .outputs = {"y", "m"},
                    .nodes = {{"add", example_of("ELEMENT_WISE_ADD"), {"p", "q"}, {"m"}},
                              {"relu", example_of("ACTIVATION_RELU"), {"m"}, {"n"}},
                              {"tanh", example_of("ACTIVATION_TANH"), {"n"}, {"y"}}}};
  const std::vector<std::string> names{"e", "e_2", ""};
  std::size_t count = 0;
  for (std::size_t choice = 0; choice < 3 * 3 * 3 * 3 * 3 * 3; ++choice) {
    GraphInMemory memory(graph);
    std::vector<std::string> given;  // to y, m, p, q, m -> relu and relu -> tanh
    for (std::size_t i = 0, rest = choice; i < 6; ++i, rest /= 3) given.push_back(names[rest % 3]);
    for (std::size_t i = 0; i < 2; ++i) {
      memory.outputs[i].name = memory.name(given[i]);
      memory.inputs[i].name = memory.name(given[2 + i]);
      memory.between[i].name = memory.name(given[4 + i]);
    }
    std::set<std::string> taken;
    const auto named = [&](const std::string& wished, const std::string& otherwise) {
      const std::string& name = wished.empty() ? otherwise : wished;
      std::string free = name;
      for (int i = 2; !taken.insert(free).second; ++i) free = name + "_" + std::to_string(i);
      return free;
    };
    const std::string y = named(given[0], "tanh.0"), m = named(given[1], "add.0");
    const std::string p = named(given[2], "input0"), q = named(given[3], "input1");
    const std::string n = named(given[5], "relu.0");  // m -> relu has a name
    Diagnostics findings;
    const auto read = memory.read(findings);
    REQUIRE_MESSAGE(read.has_value(), messages_of(findings));
    const bool is_right =
        read->outputs == std::vector{y, m} && read->inputs == std::vector{p, q} &&
        read->nodes[0].inputs == std::vector{p, q} && read->nodes[0].outputs == std::vector{m} &&
        read->nodes[1].inputs == std::vector{m} && read->nodes[1].outputs == std::vector{n} &&
        read->nodes[2].inputs == std::vector{n} && read->nodes[2].outputs == std::vector{y};
    if (!is_right) FAIL_CHECK("names given: ", join(given), "; outputs: ", join(read->outputs));
    ++count;
  }
  CHECK(count == 729);
}

TEST_CASE("layer: a refused graph is explained by its nodes") {
  Graph graph = graph_of_two();
  Refusal refusal{.call = "CompileGraph", .subject = "", .code = 0x80070057, .findings = {}};
  explain_graph(graph, newest_feature_level, refusal);
  CHECK(messages_of(refusal.findings) == "");
  std::get<GraphOperator>(graph.nodes[1].content).outputs[0].sizes.back() += 1;
  explain_graph(graph, newest_feature_level, refusal);
  REQUIRE(refusal.findings.size() >= 1);
  CHECK(refusal.findings[0].message.starts_with(
      "node \"second\" (DML_OPERATOR_ACTIVATION_TANH): OutputTensor.Sizes["));
}

}  // namespace dmlop::graph_desc_test
