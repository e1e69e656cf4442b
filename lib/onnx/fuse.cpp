#include "onnx/fuse.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "onnx/edge_uses.hpp"
#include "onnx/graph_nodes.hpp"

namespace dmlop::onnx {
namespace {

constexpr std::array<std::string_view, 12> fused_types{
    "ELU",      "HARD_SIGMOID", "LEAKY_RELU",  "PARAMETRIC_SOFTPLUS",
    "RELU",     "SCALED_ELU",   "SCALED_TANH", "SIGMOID",
    "SOFTPLUS", "SOFTSIGN",     "TANH",        "THRESHOLDED_RELU"};

constexpr FeatureLevel level_of_fused_sum{2, 0};

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
  Fusion(Graph& graph, FeatureLevel level, const std::function<bool(const std::string&)>& is_fused)
      : graph_(graph), level_(level), is_fused_(is_fused), uses_(graph) {}

  void fuse() {
    std::vector<bool> is_gone(graph_.nodes.size(), false);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) is_gone[i] = fuse(graph_.nodes[i]);
    remove_nodes(graph_, is_gone);
  }

 private:
  /// True if the node is part of another one now.
  bool fuse(GraphNode& node) {
    auto* activation = std::get_if<GraphOperator>(&node.content);
    if (activation == nullptr || !is_fused_type(activation->type) || node.inputs.size() != 1)
      return false;
    const auto number = uses_.writer(node.inputs.front());
    if (!number || uses_.readers(node.inputs.front()) != 1) return false;
    if (!is_fused_(node.inputs.front())) return false;
    GraphNode& writer = graph_.nodes[*number];
    auto* operation = std::get_if<GraphOperator>(&writer.content);
    if (operation == nullptr) return false;
    const std::string type = with_activation(operation->type, activation->type);
    if (type.empty() || (type != operation->type && level_ < level_of_fused_sum) ||
        !are_same_bytes(operation->outputs.front(), activation->inputs.front()) ||
        !take(*operation, type, *activation))
      return false;
    forget_edge(graph_, node.inputs.front());
    writer.name = node.name;
    writer.outputs = node.outputs;
    uses_.set_writer(node.outputs.front(), *number);
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
  FeatureLevel level_;
  const std::function<bool(const std::string&)>& is_fused_;
  EdgeUses uses_;
};

}  // namespace

void fuse_activations(Graph& graph, FeatureLevel level,
                      const std::function<bool(const std::string& edge)>& is_fused) {
  Fusion(graph, level, is_fused).fuse();
}

}  // namespace dmlop::onnx
