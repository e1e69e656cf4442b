// How run shows the edges of a graph that it compared, and the nodes that are wrong by themselves.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "graph/compare_edges.hpp"

namespace dmlop::app {

/// Prints the edges that differ, those of the first wrong node in full, and names the wrong nodes.
void print_edges(const Model& model, const EdgeComparer& comparer);
/// All edges and the wrong nodes, as members of an object.
nlohmann::ordered_json edges_json(const Model& model, const EdgeComparer& comparer);

}  // namespace dmlop::app
