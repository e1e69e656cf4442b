// A node of a graph as an op description, in the words of its operator's spec: which desc is which
// tensor, and which attribute is which field.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "spec/spec.hpp"

namespace dmlop {

/// A tensor of an operator, and the edge that it is bound to: "" for an output that nothing reads.
struct NodeTensor {
  const FieldSpec* field = nullptr;
  std::optional<std::size_t> element = {};  // of an array of tensors
  std::string edge;

  /// "OutputTensors[1]".
  std::string name() const;
};

struct DescribedNode {
  nlohmann::ordered_json description;  // {"type": …, "desc": {…}}
  std::vector<NodeTensor> tensors;     // those that are there, in the order of the fields
};

/// Adds a message for each desc, edge or attribute that has no place in the operator. An operator
/// that is unknown has its type only.
DescribedNode describe(const GraphNode& node, const GraphOperator& operation,
                       std::vector<std::string>& messages);

}  // namespace dmlop
