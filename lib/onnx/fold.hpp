// Computes a node of an ONNX model while the model is read, by running what it becomes on the CPU.
#pragma once

#include "graph/graph.hpp"
#include "onnx/mapping.hpp"

namespace dmlop::onnx {

/// Gives the outputs of a node the elements that its known inputs lead to: as constants, or as
/// values of this run only. False if that fails; then nothing is changed.
bool compute(Mapping& mapping, bool is_constant);

/// A constant of a graph, whose bytes stay where they are.
GraphNode constant_node(const std::string& edge, const TensorData& data);

}  // namespace dmlop::onnx
