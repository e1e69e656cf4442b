#include "program/load.hpp"

#include <algorithm>
#include <array>

#include "graph/models.hpp"

namespace dmlop {
namespace {

std::string text_of(const ProgramSource& source) {
  if (!source.text.empty()) return source.text;
  return with_context("reading " + source.path, [&] { return json::read_text(source.path); });
}

}  // namespace

bool is_program(const ProgramSource& source) {
  Diagnostics ignored;
  if (is_binary_program(source)) return true;
  const std::string text = text_of(source);
  // Most descriptions have none of these words, and need not be parsed twice.
  constexpr std::array words{"nodes", "resources", "dispatchables", "commands"};
  const auto is_there = [&](const char* word) { return text.find(word) != std::string::npos; };
  if (std::ranges::none_of(words, is_there)) return false;
  const auto file = parse_op_or_model(json::Source{source.path}, text, ignored);
  return file && (file->has_graph || file->has_model);
}

std::optional<LoweredGraph> load_program(const ProgramSource& source, const GraphRequest& request,
                                         Diagnostics& diagnostics, Diagnostics& warnings) {
  const auto program = open_program(source, request, diagnostics);
  if (!program) return std::nullopt;
  if (program->kind == OpenedProgram::Kind::description)
    throw Error(ErrorKind::usage,
                (source.path.empty() ? "this" : source.path) +
                    " is neither a graph nor a model: run an op description as an operation");
  if (program->kind == OpenedProgram::Kind::graph)
    return program->graph ? lower_graph(*program->graph, request, diagnostics, warnings)
                          : std::nullopt;
  const ModelRequest model_request{.checking = request.checking,
                                   .confinement = request.confinement};
  const auto& document = program->file->document;
  auto model =
      read_model_with_graphs(document, document->root(), model_request, diagnostics, warnings);
  return model ? std::optional(LoweredGraph{std::move(*model), {}}) : std::nullopt;
}

}  // namespace dmlop
