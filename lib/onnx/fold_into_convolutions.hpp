// What a convolution's channels are scaled by and what is added to them becomes part of its filter
// and bias, as ONNX Runtime's optimizer folds it (ConvBNFusion, ConvMulFusion, ConvAddFusion).
#pragma once

#include <functional>
#include <string>

#include "graph/graph.hpp"

namespace dmlop::onnx {

/// Folds BATCH_NORMALIZATION, and ELEMENT_WISE_MULTIPLY and ELEMENT_WISE_ADD with a number for each
/// channel, into the CONVOLUTION whose output nothing else reads, if the filter, the bias and all
/// that they read are constants of FLOAT32 or FLOAT16, and if these types hold what they become. No
/// other convolution may have a filter that is scaled. All these nodes become one, with constants
/// of its own, whose edges `free_edge` names after what is wanted.
void fold_into_convolutions(Graph& graph,
                            const std::function<std::string(const std::string& wanted)>& free_edge);

}  // namespace dmlop::onnx
