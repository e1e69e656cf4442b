// A description as a node of a graph: the reverse of graph/describe.hpp.
#pragma once

#include "graph/graph.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// The operator of a description that was checked, with the desc of each tensor that is there and
/// every other field as an attribute.
GraphOperator graph_operator(const Description& description);

}  // namespace dmlop
