// Which nodes of a graph write and read its edges, while nodes become part of others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.hpp"

namespace dmlop::onnx {

class EdgeUses {
 public:
  explicit EdgeUses(const Graph& graph) {
    for (const std::string& output : graph.outputs) ++readers_[output];
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      add_readers(graph.nodes[i]);
      for (const std::string& output : graph.nodes[i].outputs) writers_[output] = i;
    }
  }

  /// The number of the node that writes an edge; nothing for an input of the graph.
  std::optional<std::size_t> writer(const std::string& edge) const {
    const auto found = writers_.find(edge);
    return found == writers_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The constant of the graph that an edge is; null if it is none.
  const GraphConstant* constant(const Graph& graph, const std::string& edge) const {
    const auto number = writer(edge);
    return number ? std::get_if<GraphConstant>(&graph.nodes[*number].content) : nullptr;
  }
  void set_writer(const std::string& edge, std::size_t node) { writers_[edge] = node; }

  /// How often nodes read an edge; one more if it is an output of the graph.
  std::size_t readers(const std::string& edge) const {
    const auto found = readers_.find(edge);
    return found == readers_.end() ? 0 : found->second;
  }
  /// Whether a node is a constant that had readers and has none left.
  bool is_left_over(const GraphNode& node) const {
    return std::holds_alternative<GraphConstant>(node.content) &&
           std::ranges::all_of(node.outputs, [&](const std::string& output) {
             const auto found = readers_.find(output);
             return found != readers_.end() && found->second == 0;
           });
  }
  void add_readers(const GraphNode& node) {
    for (const std::string& input : node.inputs) add_reader(input);
  }
  void add_reader(const std::string& edge) { ++readers_[edge]; }
  void remove_readers(const GraphNode& node) {
    for (const std::string& input : node.inputs) --readers_[input];
  }

 private:
  std::map<std::string, std::size_t> readers_;
  std::map<std::string, std::size_t> writers_;
};

/// Takes away what the graph knows of an edge that it no longer has.
inline void forget_edge(Graph& graph, const std::string& edge) {
  graph.sizes.erase(edge);
  graph.types.erase(edge);
}

/// Takes nodes away, given by their numbers.
inline void remove_nodes(Graph& graph, const std::vector<bool>& is_gone) {
  std::vector<GraphNode> kept;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!is_gone[i]) kept.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(kept);
}

}  // namespace dmlop::onnx
