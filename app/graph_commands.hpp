// What commands do with a serialized DirectML graph.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "command.hpp"
#include "graph/graph.hpp"

namespace dmlop::app {

/// Shows a graph: inputs, outputs, constants, nodes and totals.
void print_graph(const Graph& graph);
/// The same with all attributes, as JSON.
nlohmann::ordered_json graph_json(const Graph& graph);

}  // namespace dmlop::app
