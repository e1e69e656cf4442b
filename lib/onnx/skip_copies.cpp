#include "onnx/skip_copies.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "onnx/edge_uses.hpp"
#include "onnx/graph_nodes.hpp"

namespace dmlop::onnx {
namespace {

class Skipping {
 public:
  explicit Skipping(Graph& graph) : graph_(graph), uses_(graph) {}

  void skip() {
    std::vector<bool> is_gone(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      rename(graph_.nodes[i].inputs, read_instead_);
      const auto* operation = std::get_if<GraphOperator>(&graph_.nodes[i].content);
      if (operation != nullptr && is_plain_copy(*operation))
        is_gone[i] =
            skip(*operation, graph_.nodes[i].inputs.front(), graph_.nodes[i].outputs.front());
    }
    remove_nodes(graph_, is_gone);
    for (GraphNode& node : graph_.nodes) {
      rename(node.inputs, written_instead_);
      rename(node.outputs, written_instead_);
    }
  }

 private:
  using Names = std::map<std::string, std::string>;

  // Takes the copy between two edges away, if it can. Returns whether it did.
  bool skip(const GraphOperator& copy, const std::string& from, const std::string& to) {
    if (!is_output(to)) {
      if (is_input(from)) return false;
      read_instead_[to] = from;
      forget_edge(graph_, to);
      return true;
    }
    if (!writes_alike(from, copy) || !written_instead_.try_emplace(from, to).second) return false;
    forget_edge(graph_, from);
    return true;
  }

  static void rename(std::vector<std::string>& edges, const Names& names) {
    for (std::string& edge : edges) {
      const auto found = names.find(edge);
      if (found != names.end()) edge = found->second;
    }
  }

  // A serialized graph tells the sizes of its inputs by those that nodes read.
  bool is_input(const std::string& edge) const {
    return std::ranges::find(graph_.inputs, edge) != graph_.inputs.end();
  }
  bool is_output(const std::string& edge) const {
    return std::ranges::find(graph_.outputs, edge) != graph_.outputs.end();
  }

  // Whether an operator, and no output of the graph, wrote what a copy reads, without strides.
  bool writes_alike(const std::string& edge, const GraphOperator& copy) const {
    const auto writer = uses_.writer(edge);
    if (!writer || is_output(edge)) return false;
    const GraphNode& node = graph_.nodes[*writer];
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    if (operation == nullptr) return false;
    const auto outputs = uses_of(node.outputs, operation->outputs);
    if (!outputs) return false;
    const auto written = std::ranges::find(*outputs, edge, &GraphUse::edge);
    return written != outputs->end() && written->tensor != nullptr &&
           are_same_bytes(*written->tensor, copy.inputs.front());
  }

  Graph& graph_;
  EdgeUses uses_;
  Names read_instead_;     // edges that copies wrote, and what they read
  Names written_instead_;  // edges that copies of outputs read, and these outputs
};

}  // namespace

bool is_plain_copy(const GraphOperator& operation) {
  return operation.type == "DML_OPERATOR_ELEMENT_WISE_IDENTITY" &&
         find_attribute(operation, "ScaleBias") == nullptr &&
         are_same_bytes(operation.inputs.front(), operation.outputs.front());
}

void skip_copies(Graph& graph) {
  Skipping(graph).skip();
}

}  // namespace dmlop::onnx
