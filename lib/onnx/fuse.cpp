#include "onnx/fuse.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace dmlop::onnx {
namespace {

constexpr std::array<std::string_view, 12> fused_types{
    "ELU",      "HARD_SIGMOID", "LEAKY_RELU",  "PARAMETRIC_SOFTPLUS",
    "RELU",     "SCALED_ELU",   "SCALED_TANH", "SIGMOID",
    "SOFTPLUS", "SOFTSIGN",     "TANH",        "THRESHOLDED_RELU"};

constexpr std::string_view activation_prefix = "DML_OPERATOR_ACTIVATION_";

bool is_fused_type(std::string_view type) {
  if (!type.starts_with(activation_prefix)) return false;
  type.remove_prefix(activation_prefix.size());
  return std::find(fused_types.begin(), fused_types.end(), type) != fused_types.end();
}

/// The operator with a field for the activation; "" if it has none.
std::string with_activation(const std::string& type, std::string_view activation) {
  if (type == "DML_OPERATOR_ELEMENT_WISE_ADD")
    return activation == "DML_OPERATOR_ACTIVATION_RELU" ? type + "1" : "";
  for (const char* other :
       {"CONVOLUTION", "GEMM", "BATCH_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1"}) {
    if (type == "DML_OPERATOR_" + std::string(other)) return type;
  }
  return "";
}

class Fusion {
 public:
  Fusion(Graph& graph, const std::function<bool(const std::string&)>& is_fused)
      : graph_(graph), is_fused_(is_fused) {
    for (const std::string& output : graph.outputs) ++readers_[output];
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      for (const std::string& input : graph.nodes[i].inputs) ++readers_[input];
      for (const std::string& output : graph.nodes[i].outputs) writers_[output] = i;
    }
  }

  void fuse() {
    std::vector<bool> is_gone(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) is_gone[i] = fuse(graph_.nodes[i]);
    std::vector<GraphNode> kept;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is_gone[i]) kept.push_back(std::move(graph_.nodes[i]));
    }
    graph_.nodes = std::move(kept);
  }

 private:
  /// True if the node is part of another one now.
  bool fuse(GraphNode& node) {
    auto* activation = std::get_if<GraphOperator>(&node.content);
    if (activation == nullptr || !is_fused_type(activation->type) || node.inputs.size() != 1)
      return false;
    const auto found = writers_.find(node.inputs.front());
    if (found == writers_.end() || readers_[node.inputs.front()] != 1) return false;
    if (!is_fused_(node.inputs.front())) return false;
    GraphNode& writer = graph_.nodes[found->second];
    auto* operation = std::get_if<GraphOperator>(&writer.content);
    if (operation == nullptr) return false;
    const std::string type = with_activation(operation->type, activation->type);
    if (type.empty() || !take(*operation, type, *activation)) return false;
    graph_.sizes.erase(node.inputs.front());
    writer.name = node.name;
    writer.outputs = node.outputs;
    writers_[node.outputs.front()] = found->second;
    return true;
  }

  static bool take(GraphOperator& operation, const std::string& type, GraphOperator& activation) {
    if (operation.type != type) {
      operation.type = type;
      operation.attributes.push_back({"", {}});
    }
    GraphAttribute& last = operation.attributes.back();  // FusedActivation
    if (!std::holds_alternative<std::monostate>(last.value)) return false;
    last = {"FusedActivation", GraphActivation{activation.type, std::move(activation.attributes)}};
    return true;
  }

  Graph& graph_;
  const std::function<bool(const std::string&)>& is_fused_;
  std::map<std::string, std::size_t> readers_;
  std::map<std::string, std::size_t> writers_;
};

}  // namespace

void fuse_activations(Graph& graph, const std::function<bool(const std::string& edge)>& is_fused) {
  Fusion(graph, is_fused).fuse();
}

}  // namespace dmlop::onnx
