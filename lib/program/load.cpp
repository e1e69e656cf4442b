#include "onnx/load_program.hpp"

#include <algorithm>
#include <array>

#include "graph/files.hpp"
#include "graph/json_graph.hpp"
#include "graph/models.hpp"
#include "model/open.hpp"
#include "onnx/import.hpp"

namespace dmlop {
namespace {

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::optional<OpenedGraph> open_serialized(const ProgramSource& source, Diagnostics& diagnostics) {
  if (source.text.empty()) return open_graph(source.path, "the program ", diagnostics);
  if (!is_serialized_graph(bytes_of(source.text))) return std::nullopt;
  return OpenedGraph{read_graph(source.path, bytes_of(source.text), diagnostics)};
}

std::optional<LoweredGraph> load_onnx(const ProgramSource& source, const GraphRequest& request,
                                      Diagnostics& diagnostics, Diagnostics& notes) {
  if (!source.text.empty())
    throw Error(ErrorKind::usage, source.path + " is an ONNX model: give its file, not its bytes");
  const auto model = onnx::open_onnx(source.path, diagnostics);
  if (!model) return std::nullopt;
  const auto imported = onnx::import_onnx(
      *model, {.dimensions = source.dimensions, .confinement = request.confinement}, diagnostics);
  if (!imported) return std::nullopt;
  model->file->require_intact();
  return lower_graph(imported->graph, request, diagnostics, notes);
}

std::string text_of(const ProgramSource& source) {
  if (!source.text.empty()) return source.text;
  return with_context("reading " + source.path, [&] { return json::read_text(source.path); });
}

std::optional<LoweredGraph> load_json(const ProgramSource& source, const GraphRequest& request,
                                      Diagnostics& diagnostics, Diagnostics& notes) {
  const auto file = parse_op_or_model(json::Source{source.path}, text_of(source), diagnostics);
  if (!file || (file->has_graph && !diagnostics.empty())) return std::nullopt;
  if (file->has_graph) {
    const auto graph = read_json_graph(file->document, request, diagnostics);
    return graph ? lower_graph(*graph, request, diagnostics, notes) : std::nullopt;
  }
  if (!file->has_model)
    throw Error(ErrorKind::usage,
                (source.path.empty() ? "this" : source.path) +
                    " is no graph and no model: run an op description as an operation");
  const ModelRequest model_request{.checking = request.checking,
                                   .confinement = request.confinement};
  auto model = read_model_with_graphs(file->document, file->document->root(), model_request,
                                      diagnostics, notes);
  return model ? std::optional(LoweredGraph{std::move(*model), {}}) : std::nullopt;
}

}  // namespace

bool is_program(const ProgramSource& source) {
  Diagnostics ignored;
  if (onnx::is_named_onnx(source.path) || open_serialized(source, ignored)) return true;
  const std::string text = text_of(source);
  // Most descriptions have none of these words, and need not be parsed twice.
  constexpr std::array words{"nodes", "resources", "dispatchables", "commands"};
  const auto is_there = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (std::ranges::none_of(words, is_there)) return false;
  const auto file = parse_op_or_model(json::Source{source.path}, text, ignored);
  return file && (file->has_graph || file->has_model);
}

std::optional<LoweredGraph> load_program(const ProgramSource& source, const GraphRequest& request,
                                         Diagnostics& diagnostics, Diagnostics& notes) {
  if (onnx::is_named_onnx(source.path)) return load_onnx(source, request, diagnostics, notes);
  if (const auto opened = open_serialized(source, diagnostics))
    return opened->graph ? lower_graph(*opened->graph, request, diagnostics, notes) : std::nullopt;
  return load_json(source, request, diagnostics, notes);
}

}  // namespace dmlop
