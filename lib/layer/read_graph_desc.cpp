// Reads a DML_GRAPH_DESC.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "layer/explain.hpp"
#include "layer/memory_reader.hpp"

namespace dmlop::layer {
namespace {

constexpr std::uint32_t inputs_max = 65'536;
constexpr std::uint32_t edges_max = 1'000'000;

constexpr std::int32_t operator_node = 1;  // DML_GRAPH_NODE_TYPE
constexpr std::int32_t constant_node = 2;
constexpr std::int32_t edge_type_of_inputs = 1;  // DML_GRAPH_EDGE_TYPE
constexpr std::int32_t edge_type_of_outputs = 2;
constexpr std::int32_t edge_type_between = 3;

/// An output of a node.
using Source = std::pair<std::uint32_t, std::uint32_t>;

class GraphReader {
 public:
  GraphReader(const FindOperator& find, Diagnostics& findings)
      : find_(find), findings_(findings), memory_(findings) {}

  std::optional<Graph> read(Address address) {
    const auto desc = memory_.read<GraphDesc>(address, "desc", "DML_GRAPH_DESC");
    if (!desc) return std::nullopt;
    if (desc->input_count > inputs_max || desc->output_count > inputs_max) {
      memory_.refuse("InputCount is " + std::to_string(desc->input_count) + " and OutputCount is " +
                     std::to_string(desc->output_count) + ", must be at most " +
                     std::to_string(inputs_max));
      return std::nullopt;
    }
    graph_.inputs.resize(desc->input_count);
    graph_.outputs.resize(desc->output_count);
    read_nodes(*desc);
    if (!findings_.empty()) return std::nullopt;
    // Names of outputs count most, as others look for them; then those of inputs.
    read_outputs(*desc);
    read_inputs(*desc);
    read_between(*desc);
    if (!findings_.empty()) return std::nullopt;
    name_outputs();
    if (!sort_nodes()) return std::nullopt;
    return std::move(graph_);
  }

 private:
  void read_nodes(const GraphDesc& desc) {
    const auto nodes = memory_.list<TypedDesc>(desc.nodes, desc.node_count, "Nodes", "NodeCount",
                                               static_cast<std::uint32_t>(graph_nodes_max));
    for (std::size_t i = 0; nodes && i < nodes->size(); ++i) {
      const std::string name = "Nodes[" + std::to_string(i) + "]";
      const TypedDesc& node = (*nodes)[i];
      if (node.type == operator_node) {
        add_operator(node.desc, name, i);
      } else if (node.type == constant_node) {
        add_constant(node.desc, name, i);
      } else {
        memory_.refuse(name + ".Type is " + std::to_string(node.type) +
                       ", which is no DML_GRAPH_NODE_TYPE");
      }
    }
  }

  static std::string title(Address name, std::size_t index) {
    const std::string text = MemoryReader::text(name);
    return text.empty() ? "node " + std::to_string(index) : valid_utf8(text);
  }

  void add_operator(Address address, const std::string& name, std::size_t index) {
    const auto desc =
        memory_.read<OperatorNodeDesc>(address, name + ".Desc", "DML_OPERATOR_GRAPH_NODE_DESC");
    if (!desc) return;
    const auto operation = find_(desc->operation);
    if (operation == nullptr) {
      const std::string what = name + ".Desc->Operator";
      return memory_.refuse(what + " is " +
                                (desc->operation == 0 ? "null" : hex_address(desc->operation)) +
                                ", which is not an operator",
                            "it is an IDMLOperator of this device that was not released");
    }
    GraphNode node = operation->node;
    node.name = title(desc->name, index);
    graph_.nodes.push_back(std::move(node));
  }

  void add_constant(Address address, const std::string& name, std::size_t index) {
    const auto desc = memory_.read<ConstantNodeDesc>(address, name + ".Desc",
                                                     "DML_CONSTANT_DATA_GRAPH_NODE_DESC");
    if (!desc || !can_read(*desc, name)) return;
    GraphConstant constant;
    const std::span bytes(reinterpret_cast<const std::byte*>(desc->data), desc->data_size);
    constant.view = std::make_shared<const GraphBytes>(
        GraphBytes{.bytes = bytes, .owner = nullptr, .file = nullptr, .path = ""});
    graph_.nodes.push_back(
        {.name = title(desc->name, index), .content = constant, .inputs = {}, .outputs = {""}});
  }

  // A byte of each page, and the last one.
  bool can_read(const ConstantNodeDesc& desc, const std::string& name) {
    constexpr std::uint64_t page = 4096;
    const auto is_there = [&](std::uint64_t at) {
      std::byte byte{};
      return copy_memory(desc.data + at, std::span(&byte, 1));
    };
    bool are_there = desc.data_size == 0 || is_there(desc.data_size - 1);
    for (std::uint64_t at = 0; are_there && at < desc.data_size; at += page)
      are_there = is_there(at);
    if (!are_there)
      memory_.refuse(name + ".Desc->Data is " + hex_address(desc.data) + ", where " +
                         counted(desc.data_size, "byte") + " cannot be read",
                     "", ErrorKind::io_failed);
    return are_there;
  }

  template <typename Edge, typename Use>
  void read_edges(Address edges, std::uint32_t count, const std::string& kind, std::int32_t type,
                  Use use) {
    const std::string name = kind + "s";
    const auto descs = memory_.list<TypedDesc>(edges, count, name, kind + "Count", edges_max);
    for (std::size_t i = 0; descs && i < descs->size(); ++i) {
      const std::string edge_name = name + "[" + std::to_string(i) + "]";
      if ((*descs)[i].type != type) {
        memory_.refuse(edge_name + ".Type is " + std::to_string((*descs)[i].type) + ", must be " +
                       std::to_string(type));
        continue;
      }
      const auto edge =
          memory_.read<Edge>((*descs)[i].desc, edge_name + ".Desc", "desc of an edge");
      if (edge) use(*edge, edge_name + ".Desc->");
    }
  }

  void read_outputs(const GraphDesc& desc) {
    const auto use = [&](const OutputEdgeDesc& edge, const std::string& name) {
      if (!is_index(edge.graph_output, graph_.outputs.size(), name + "GraphOutputIndex")) return;
      if (!has_output(edge.from_node, edge.from_output, name)) return;
      const Source source{edge.from_node, edge.from_output};
      outputs_.emplace_back(edge.graph_output, source);
      name_source(source, edge.name);
    };
    read_edges<OutputEdgeDesc>(desc.output_edges, desc.output_edge_count, "OutputEdge",
                               edge_type_of_outputs, use);
  }

  void read_inputs(const GraphDesc& desc) {
    const auto use = [&](const InputEdgeDesc& edge, const std::string& name) {
      if (!is_index(edge.graph_input, graph_.inputs.size(), name + "GraphInputIndex")) return;
      std::string& input = graph_.inputs[edge.graph_input];
      if (input.empty()) input = unique(edge.name, "input" + std::to_string(edge.graph_input));
      connect(edge.to_node, edge.to_input, input, name);
    };
    read_edges<InputEdgeDesc>(desc.input_edges, desc.input_edge_count, "InputEdge",
                              edge_type_of_inputs, use);
  }

  void read_between(const GraphDesc& desc) {
    const auto use = [&](const IntermediateEdgeDesc& edge, const std::string& name) {
      if (!has_output(edge.from_node, edge.from_output, name)) return;
      const Source source{edge.from_node, edge.from_output};
      name_source(source, edge.name);
      connect(edge.to_node, edge.to_input, names_[source], name);
      followers_[edge.from_node].push_back(edge.to_node);
    };
    read_edges<IntermediateEdgeDesc>(desc.intermediate_edges, desc.intermediate_edge_count,
                                     "IntermediateEdge", edge_type_between, use);
  }

  bool is_index(std::uint32_t index, std::size_t count, const std::string& name) {
    if (index < count) return true;
    memory_.refuse(name + " is " + std::to_string(index) + ", must be below " +
                   std::to_string(count));
    return false;
  }

  bool has_output(std::uint32_t node, std::uint32_t output, const std::string& name) {
    return is_index(node, graph_.nodes.size(), name + "FromNodeIndex") &&
           is_index(output, graph_.nodes[node].outputs.size(), name + "FromNodeOutputIndex");
  }

  void connect(std::uint32_t node, std::uint32_t input, const std::string& edge,
               const std::string& name) {
    if (!is_index(node, graph_.nodes.size(), name + "ToNodeIndex")) return;
    auto& inputs = graph_.nodes[node].inputs;
    if (!is_index(input, inputs.size(), name + "ToNodeInputIndex")) return;
    if (inputs[input].empty())
      return memory_.refuse(name + "ToNodeInputIndex is " + std::to_string(input) +
                            ", an input that " + title_of(graph_.nodes[node]) + " leaves out");
    if (!connected_.emplace(node, input).second)
      return memory_.refuse(name + "ToNodeInputIndex is " + std::to_string(input) +
                            ", an input of " + title_of(graph_.nodes[node]) +
                            " that another edge goes to");
    inputs[input] = edge;
  }

  /// The first name that an edge gives to an output of a node.
  void name_source(const Source& source, Address name) {
    std::string& known = names_[source];
    if (known.empty())
      known = unique(name, graph_.nodes[source.first].name + "." + std::to_string(source.second));
  }

  std::string unique(Address wished, const std::string& otherwise) {
    std::string name = valid_utf8(MemoryReader::text(wished));
    if (name.empty()) name = otherwise;
    std::string candidate = name;
    for (int i = 2; !taken_.insert(candidate).second; ++i)
      candidate = name + "_" + std::to_string(i);
    return candidate;
  }

  /// Gives the nodes the names of their outputs, and takes those of inputs that no edge goes to.
  void name_outputs() {
    for (std::uint32_t node = 0; node < graph_.nodes.size(); ++node) {
      auto& outputs = graph_.nodes[node].outputs;
      for (std::uint32_t i = 0; i < outputs.size(); ++i) {
        const auto name = names_.find({node, i});
        outputs[i] = name == names_.end() ? "" : name->second;
      }
      auto& inputs = graph_.nodes[node].inputs;
      for (std::uint32_t i = 0; i < inputs.size(); ++i) {
        if (!connected_.contains({node, i})) inputs[i].clear();
      }
    }
    for (const auto& [index, source] : outputs_) graph_.outputs[index] = names_[source];
  }

  /// Puts the nodes into an order in which they can run. Returns false if there is none.
  bool sort_nodes() {
    std::vector<std::size_t> waits_for(graph_.nodes.size());
    for (const auto& [node, followers] : followers_) {
      for (const std::uint32_t follower : followers) ++waits_for[follower];
    }
    std::set<std::uint32_t> ready;  // in the application's order as far as that is possible
    for (std::uint32_t i = 0; i < waits_for.size(); ++i) {
      if (waits_for[i] == 0) ready.insert(i);
    }
    std::vector<GraphNode> sorted;
    while (!ready.empty()) {
      const std::uint32_t next = *ready.begin();
      ready.erase(ready.begin());
      sorted.push_back(graph_.nodes[next]);
      for (const std::uint32_t follower : followers_[next]) {
        if (--waits_for[follower] == 0) ready.insert(follower);
      }
    }
    if (sorted.size() == graph_.nodes.size()) return graph_.nodes = std::move(sorted), true;
    const auto stuck = std::ranges::find_if(waits_for, [](std::size_t n) { return n > 0; });
    memory_.refuse(title_of(graph_.nodes[static_cast<std::size_t>(stuck - waits_for.begin())]) +
                       " waits for its own output",
                   "a graph has no cycles");
    return false;
  }

  const FindOperator& find_;
  Diagnostics& findings_;
  MemoryReader memory_;
  Graph graph_;
  std::map<Source, std::string> names_;  // of edges, by the output that writes them
  std::vector<std::pair<std::uint32_t, Source>> outputs_;
  std::set<Source> connected_;  // inputs of nodes
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> followers_;
  std::set<std::string> taken_;  // names of edges
};

}  // namespace

std::optional<Graph> read_graph_desc(Address desc, const FindOperator& find,
                                     Diagnostics& findings) {
  Diagnostics found;
  auto graph = GraphReader(find, found).read(desc);
  findings.insert(findings.end(), found.begin(), found.end());
  return graph;
}

}  // namespace dmlop::layer
