#include "program/open.hpp"

#include <filesystem>

#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/files.hpp"
#include "graph/join_graphs.hpp"
#include "graph/json_graph.hpp"
#include "job/folder.hpp"
#include "onnx/import.hpp"
#include "onnx/inputs.hpp"
#include "onnx/test_folder.hpp"

namespace dmlop {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

OpenedProgram graph_program(std::optional<Graph> graph) {
  return {.kind = OpenedProgram::Kind::graph, .graph = std::move(graph)};
}

// The model of a folder, or of a file.
std::string path_of_onnx(const ProgramSource& source) {
  if (!source.text.empty() || !is_onnx_folder(source.path)) return source.path;
  return onnx::model_in(source.path);
}

std::optional<onnx::OnnxModel> onnx_model_of(const ProgramSource& source,
                                             Diagnostics& diagnostics) {
  if (source.text.empty())
    return onnx::open_onnx(path_of_onnx(source), diagnostics, source.confinement);
  // The graph's constants are views of these bytes, and the caller's may go.
  const auto kept = std::make_shared<const std::string>(source.text);
  auto model = onnx::read_onnx(source.path, bytes_of(*kept), diagnostics);
  if (model) model->owner = kept;
  return model;
}

// The files of inputs. Those of a job may be its outputs', which the graph's names will tell.
std::vector<NamedFile> inputs_of(const ProgramSource& source, const onnx::OnnxModel& model) {
  const bool is_of_job = source.size_source == onnx::SizeSource::job;
  return is_of_job ? onnx::files_of_inputs(model, source.inputs) : source.inputs;
}

OpenedProgram import_graph(const ProgramSource& source, const GraphRequest& request,
                           Diagnostics& diagnostics) {
  OpenedProgram program{.kind = OpenedProgram::Kind::graph, .is_onnx = true};
  const auto model = onnx_model_of(source, diagnostics);
  if (!model) return program;
  program.given = inputs_of(source, *model);
  onnx::ImportRequest import{
      .dimensions = source.dimensions,
      .confinement = request.confinement,
      .fuses = source.fuses,
      .feature_level = request.checking.feature_level.value_or(newest_feature_level),
      .size_source = source.size_source};
  const std::size_t before = diagnostics.size();
  import.files = onnx::read_inputs(*model, program.given, import, diagnostics);
  if (diagnostics.size() > before) return program;
  auto imported = onnx::import_onnx(*model, import, diagnostics);
  if (!imported) return program;
  if (model->file) model->file->require_intact();
  program.graph = std::move(imported->graph);
  return program;
}

bool is_folder_of_partitions(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(to_path(path), ignored) && partitions_in(path).size() > 1;
}

// The graphs that ONNX Runtime made of one model, as one graph.
std::optional<Graph> open_partitions(const ProgramSource& source, Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.size();
  std::vector<Graph> graphs;
  for (const std::string& path : partitions_in(source.path)) {
    auto opened = open_graph(path, "the description ", diagnostics, source.confinement);
    if (opened && opened->graph) graphs.push_back(std::move(*opened->graph));
  }
  if (diagnostics.size() > before) return std::nullopt;
  return join_graphs(std::move(graphs), diagnostics);
}

std::optional<OpenedGraph> open_serialized(const ProgramSource& source, Diagnostics& diagnostics) {
  if (source.text.empty() && is_folder_of_partitions(source.path))
    return OpenedGraph{open_partitions(source, diagnostics)};
  if (source.text.empty())
    return open_graph(source.path, "the description ", diagnostics, source.confinement);
  if (!is_serialized_graph(bytes_of(source.text))) return std::nullopt;
  return OpenedGraph{read_graph(source.path, bytes_of(source.text), diagnostics)};
}

std::optional<OpenedFile> open_json(const ProgramSource& source, Diagnostics& diagnostics) {
  if (source.text.empty())
    return open_op_or_model(source.path, source.settings, diagnostics, source.confinement);
  return parse_op_or_model(json::Source{source.path}, source.text, diagnostics, source.settings);
}

void refuse_settings(const ProgramSource& source) {
  if (!source.settings.empty())
    throw Error(ErrorKind::usage,
                "--set is for op descriptions, and " + source.path + " is a graph");
}

}  // namespace

bool is_onnx_folder(const std::string& folder) {
  std::error_code error;
  for (const std::string_view other : description_names) {
    if (std::filesystem::exists(to_path(folder) / other, error)) return false;
  }
  return onnx::is_test_folder(folder);
}

bool is_onnx_program(const ProgramSource& source) {
  if (!source.text.empty()) return onnx::is_onnx(bytes_of(source.text));
  return onnx::is_named_onnx(path_of_onnx(source));
}

bool is_binary_program(const ProgramSource& source) {
  Diagnostics ignored;
  return is_onnx_program(source) || open_serialized(source, ignored);
}

std::optional<OpenedProgram> open_binary_program(const ProgramSource& source,
                                                 const GraphRequest& request,
                                                 Diagnostics& diagnostics) {
  if (is_onnx_program(source)) {
    refuse_settings(source);
    return import_graph(source, request, diagnostics);
  }
  auto opened = open_serialized(source, diagnostics);
  if (!opened) return std::nullopt;
  refuse_settings(source);
  return graph_program(std::move(opened->graph));
}

std::optional<OpenedProgram> open_program(const ProgramSource& source, const GraphRequest& request,
                                          Diagnostics& diagnostics) {
  if (auto binary = open_binary_program(source, request, diagnostics)) return binary;
  const std::size_t before = diagnostics.size();
  auto file = open_json(source, diagnostics);
  if (!file) return std::nullopt;
  if (file->has_graph) {
    const bool has_findings = diagnostics.size() > before;  // a key that is given twice
    return graph_program(has_findings ? std::nullopt
                                      : read_json_graph(file->document, request, diagnostics));
  }
  const auto kind = file->has_model ? OpenedProgram::Kind::model : OpenedProgram::Kind::description;
  return OpenedProgram{.kind = kind, .file = std::move(file)};
}

}  // namespace dmlop
