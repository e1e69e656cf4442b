// The files of a graph: its own, serialized or JSON, and those of its constants.
#pragma once

#include <optional>
#include <string>

#include "base/confine.hpp"
#include "graph/lower.hpp"

namespace dmlop {

/// A file that turned out to be a graph. Without a graph, it has findings.
struct OpenedGraph {
  std::optional<Graph> graph;
};

/// Opens a file, or the description of a folder, if it is a serialized graph by its bytes, or
/// should be one by its name, *.bin. Returns nothing for all others, which can be read again.
/// `what` stands before the path in errors: "the description ". Errors: as InputFile::open.
std::optional<OpenedGraph> open_graph(const std::string& path, const std::string& what,
                                      Diagnostics& diagnostics,
                                      const SharedConfinement& confinement = {});

/// The path of a constant's file: NAME.bin beside the graph.
std::string constant_path(const Graph& graph, const std::string& name);

/// Whether a file holds a tensor with its type, by its name: *.npy.
bool is_npy(const std::string& path);

/// Why a constant's name cannot be that of a file beside the graph. Empty if it can.
PathProblem problem_of_constant(const std::string& name);

}  // namespace dmlop
