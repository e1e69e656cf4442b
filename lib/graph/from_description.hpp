// A description as a node of a graph: the reverse of graph/describe.hpp.
#pragma once

#include "graph/graph.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// The operator of a description that was checked, with the desc of each tensor that is there and
/// every other field as an attribute.
GraphOperator graph_operator(const Description& description);

/// The name of an operator in a serialized graph: ONNX Runtime and DxDispatch know one that was
/// renamed by its first name.
std::string serialized_name(const OperatorSpec& spec);

}  // namespace dmlop
