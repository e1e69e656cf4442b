// A serialized graph as a model: its inputs, constants and edges are buffers, its operators are
// dispatched in their order. Whatever runs, checks or shows models then does the same for graphs.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "job/job.hpp"
#include "model/model.hpp"

namespace dmlop {

/// An input of a graph, which a file has to give. The nodes that read it say what it is.
struct GraphInput {
  std::size_t resource = 0;
  std::vector<DataType> types;      // that nodes take it for; empty: no node reads it
  Sizes sizes;                      // those that the file says, or as the first of them sees it
  bool is_in_order = true;          // elements lie as these sizes say, without strides
  std::uint64_t bytes = 0;          // that they need, with padding
  std::uint64_t element_bytes = 0;  // without it
  /// The type of 4 bits that nodes take it for. Here each element has a byte.
  std::optional<DataType> of_4_bits = {};
  bool is_packed = false;  // the graph says that its bytes hold two such elements each
};

struct LoweredGraph {
  Model model;
  std::vector<GraphInput> inputs;               // those with a name
  std::vector<std::string> unread_inputs = {};  // which may be given all the same
};

struct GraphRequest {
  Checking checking = {};                 // the judge is DirectML, which made the graph
  SharedConfinement confinement = {};     // of the constants' files
  bool constants_may_be_missing = false;  // a file that does not exist is a note
};

/// Reads and checks every node by its operator's rules, as DirectML 1.15.4 decides, and every edge
/// by what writes and reads it. Constants' files are opened, but not read. Mistakes become
/// findings, and it returns a model only if there are none.
std::optional<LoweredGraph> lower_graph(const Graph& graph, const GraphRequest& request,
                                        Diagnostics& diagnostics, Diagnostics& warnings);

/// Gives the inputs of a graph the request's files. Adds a finding for each input without a file,
/// each file without an input, and each file with elements of another type or number. Files have
/// the name of an input in front of the first or a later "=", as names may have one; without a
/// name, the only input is meant. An input without any takes one of those that were found and is
/// called as its file would be (graph/edge_names.hpp). Files may be packed elements in memory.
void bind_inputs(LoweredGraph& graph, const JobRequest& request, Diagnostics& diagnostics);

/// Whether one of the files found is called as that of an input.
bool has_input_beside(const LoweredGraph& graph, const FolderFiles& found);

/// `file` with as much of its text as name as is the name of an edge of the model.
NamedFile with_edge_name(const Model& model, NamedFile file);

}  // namespace dmlop
