#include "onnx/needed.hpp"

#include <algorithm>

namespace dmlop::onnx {

Needed::Needed(const std::vector<Node>& nodes, const std::vector<std::string_view>& outputs) {
  for (const std::string_view output : outputs) add(output);
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    if (has(*node)) add_inputs(*node);
  }
}

bool Needed::has(const Node& node) const {
  return std::ranges::any_of(node.outputs,
                             [&](std::string_view output) { return values_.contains(output); });
}

Node Needed::without_others(Node node) const {
  for (std::string_view& output : node.outputs) {
    if (!values_.contains(output)) output = {};
  }
  return node;
}

void Needed::add(std::string_view value) {
  bytes_ += sizeof value + value.size();
  if (!value.empty()) values_.insert(value);
}

/// Nodes of a graph inside the node see the values around it. Some of these names may be the inner
/// graph's own, which does no harm.
void Needed::add_inputs(const Node& node) {
  for (const std::string_view input : node.inputs) add(input);
  for (const Attribute& attribute : node.attributes) {
    if (attribute.graph == nullptr) continue;
    for (const Node& inner : attribute.graph->nodes) add_inputs(inner);
    for (const ValueInfo& output : attribute.graph->outputs) add(output.name);
  }
}

}  // namespace dmlop::onnx
