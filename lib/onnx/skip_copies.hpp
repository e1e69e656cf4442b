// Copies that change nothing but the sizes of a tensor, such as what Reshape becomes.
#pragma once

#include "graph/graph.hpp"

namespace dmlop::onnx {

/// Whether an operator writes the bytes that it reads, in their order.
bool is_plain_copy(const GraphOperator& operation);

/// Takes plain copies away: their readers read what they read. A copy that writes an output of the
/// graph stays, unless the node that wrote its input can write that output. So does one of an
/// input of the graph.
void skip_copies(Graph& graph);

}  // namespace dmlop::onnx
