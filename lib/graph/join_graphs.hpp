// The graphs of a model that ONNX Runtime cut in several (Partition_0.bin, Partition_1.bin and so
// on) as one.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace dmlop {

/// One graph with the nodes of all: an input that another graph writes is that edge, others are
/// inputs, and all outputs stay outputs. Other edges of the same name get the graph's name in
/// front: "Partition_1/t3". Adds a finding if two graphs have an output of one name, or if each
/// waits for another's; then it returns nothing. The graphs must not be empty, and lie in one
/// folder.
std::optional<Graph> join_graphs(std::vector<Graph> graphs, Diagnostics& diagnostics);

}  // namespace dmlop
