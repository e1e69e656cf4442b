// Writes graphs with the files of their constants.
#pragma once

#include <string>
#include <vector>

#include "base/confine.hpp"
#include "graph/graph.hpp"

namespace dmlop {

/// Writes a graph as ONNX Runtime does, and each constant of 8 bytes and more as NAME.bin beside
/// it, unless that is the file which it comes from. Returns the paths of the files that were
/// written, the graph last. Errors: io_failed; usage if a file of the graph would be replaced;
/// invalid_input if a constant cannot be read; unavailable for an input of which nodes read a part.
std::vector<std::string> save_serialized(const Graph& graph, const std::string& path);

/// Writes a graph as JSON. It names the files of constants where they are; those that are a part of
/// a file become NAME.bin beside it. Returns the paths of the files that were written. Errors: as
/// save_serialized, and json_of.
std::vector<std::string> save_json(const Graph& graph, const std::string& path);

}  // namespace dmlop
