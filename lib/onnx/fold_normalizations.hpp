// A batch normalization after a convolution becomes part of its filter and bias, as ONNX Runtime's
// optimizer folds it (ConvBNFusion).
#pragma once

#include <functional>
#include <string>

#include "graph/graph.hpp"

namespace dmlop::onnx {

/// Folds a BATCH_NORMALIZATION into the CONVOLUTION whose output nothing else reads, if the filter,
/// the bias and all that the normalization reads are constants of FLOAT32 or FLOAT16, and if these
/// types hold what they become. No other convolution may have the filter. Both nodes become one,
/// with constants of its own, whose edges `free_edge` names after what is wanted.
void fold_batch_normalizations(
    Graph& graph, const std::function<std::string(const std::string& wanted)>& free_edge);

}  // namespace dmlop::onnx
