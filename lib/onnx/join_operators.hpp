// Joins several operators of a model that compute what one operator of DirectML computes. Models
// have several where ONNX had no such operator when they were made.
#pragma once

#include "graph/graph.hpp"
#include "spec/feature_level.hpp"

namespace dmlop::onnx {

/// Makes one operator, if the feature level has it and nothing else reads what stands between:
/// - ACTIVATION_SWISH of x * sigmoid(x);
/// - ACTIVATION_GELU of x / 2 * (1 + erf(x / sqrt(2))), in any order of its factors, as ONNX
///   Runtime's GeluFusion;
/// - MEAN_VARIANCE_NORMALIZATION2 of (x - mean) / sqrt(variance + epsilon) * scale + bias, where
///   REDUCE computes the mean and the variance, as its LayerNormFusion.
void join_operators(Graph& graph, FeatureLevel level);

}  // namespace dmlop::onnx
