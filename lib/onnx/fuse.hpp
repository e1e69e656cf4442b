// Activations become fields of the operators that they follow, as ONNX Runtime's DirectML provider
// fuses them.
#pragma once

#include <functional>
#include <string>

#include "graph/graph.hpp"
#include "spec/feature_level.hpp"

namespace dmlop::onnx {

/// Fuses an activation into a convolution, a product of matrices, a normalization or a sum, if
/// nothing else reads that, if the feature level has it, and if `is_fused` says so of the edge
/// between them. The edge is gone then.
void fuse_activations(Graph& graph, FeatureLevel level,
                      const std::function<bool(const std::string& edge)>& is_fused);

}  // namespace dmlop::onnx
