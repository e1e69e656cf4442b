#include "graph/models.hpp"

#include <algorithm>

#include "base/file.hpp"
#include "graph/files.hpp"
#include "model/graph_part.hpp"

namespace dmlop {
namespace {

std::optional<GraphPart> part_of(const Graph& graph, const ModelRequest& request,
                                 Diagnostics& diagnostics, Diagnostics& warnings) {
  auto lowered =
      lower_graph(graph, {.checking = request.checking, .confinement = request.confinement},
                  diagnostics, warnings);
  if (!lowered) return std::nullopt;
  GraphPart part{.model = std::move(lowered->model), .ports = {}};
  for (const GraphInput& input : lowered->inputs)
    part.ports.push_back({input.resource, input.bytes, false});
  for (const std::size_t output : part.model.outputs)
    part.ports.push_back({output, part.model.resources[output].size, true});
  return part;
}

}  // namespace

std::optional<Model> read_model_with_graphs(std::shared_ptr<const json::Document> document,
                                            const json::Value& root, ModelRequest request,
                                            Diagnostics& diagnostics, Diagnostics& warnings) {
  request.read_graph = [](const std::string& path, const ModelRequest& with, Diagnostics& findings,
                          Diagnostics& notes) -> std::optional<GraphPart> {
    const auto opened = open_graph(path, "the graph ", findings, with.confinement);
    if (!opened) {
      with_context("reading the graph " + path,
                   [&] { return InputFile::open(PinnedFile(with.confinement, path)); });
      findings.push_back({.file = path,
                          .message = "this is not a serialized DirectML graph",
                          .rule = "sourcePath of a dmlSerializedGraph is a Partition_N.bin"});
      return std::nullopt;
    }
    if (!opened->graph) return std::nullopt;
    return part_of(*opened->graph, with, findings, notes);
  };
  return read_model(std::move(document), root, request, diagnostics, warnings);
}

}  // namespace dmlop
