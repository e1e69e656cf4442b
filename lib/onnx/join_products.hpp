// What stands around a product of matrices becomes part of it, as ONNX Runtime's optimizers make
// it (MatMulAddFusion, MatMulScaleFusion, MatmulTransposeFusion).
#pragma once

#include "graph/graph.hpp"

namespace dmlop::onnx {

/// Makes part of a GEMM that has no activation, if nothing else reads what stands between:
/// - a factor: ELEMENT_WISE_MULTIPLY or ELEMENT_WISE_DIVIDE by a constant of one number;
/// - what ELEMENT_WISE_ADD adds, as its C, if it has none;
/// - ELEMENT_WISE_IDENTITY, by whose Strides it reads a matrix then.
void join_products(Graph& graph);

}  // namespace dmlop::onnx
