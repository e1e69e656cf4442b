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

/// Errors: usage if the file is a graph, which the command does not take.
void refuse_graph(const std::string& path);
/// The error of a command that takes no graphs.
[[noreturn]] void refuse_graph_of(const std::string& path);

}  // namespace dmlop::app
