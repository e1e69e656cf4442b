// Activations become fields of the operators that they follow, as ONNX Runtime's DirectML provider
// fuses them.
#pragma once

#include "graph/graph.hpp"

namespace dmlop::onnx {

/// Fuses an activation into a convolution, a product of matrices, a normalization or a sum, if
/// nothing else reads that. The edge between them is gone then.
void fuse_activations(Graph& graph);

}  // namespace dmlop::onnx
