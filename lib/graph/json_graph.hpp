// A graph as JSON, to read and to edit by hand: named inputs, constants, nodes that are op
// descriptions, and outputs. Whatever follows from edges and rules may be left out.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "graph/lower.hpp"
#include "json/document.hpp"

namespace dmlop {

/// Reads and checks a graph as DirectML 1.15.4 decides. The desc of an input that a node does not
/// write is that of the edge. Mistakes become findings, and it returns nothing if there are any.
/// Reads the headers of constants' .npy files.
std::optional<Graph> read_json_graph(std::shared_ptr<const json::Document> document,
                                     const GraphRequest& request, Diagnostics& diagnostics);

/// A graph as JSON, with every desc in full. `path` is the file's: the files of constants stand in
/// it relative to its folder. Errors: invalid_input if an edge or a field cannot be written so.
nlohmann::ordered_json json_of(const Graph& graph, const std::string& path);

}  // namespace dmlop
