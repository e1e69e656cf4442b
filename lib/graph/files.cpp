#include "graph/files.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/json_graph.hpp"

namespace dmlop {
namespace {

constexpr const char* extension = ".bin";

std::string extension_of(const std::string& path) {
  return lower_case(to_text(to_path(path).extension()));
}

/// A graph in JSON; nothing if the file is other JSON. That is read without this.
std::optional<OpenedGraph> open_json_graph(const std::string& path, const GraphRequest& request,
                                           Diagnostics& diagnostics) {
  std::string text = json::read_text(path);
  if (text.find("\"nodes\"") == std::string::npos) return std::nullopt;
  Diagnostics findings;
  auto document = json::Document::parse(path, std::move(text), findings);
  if (document && !is_json_graph(document->root())) return std::nullopt;
  OpenedGraph opened;
  if (document)
    opened.graph = read_json_graph(std::make_shared<const json::Document>(std::move(*document)),
                                   request, findings);
  diagnostics.insert(diagnostics.end(), findings.begin(), findings.end());
  return opened;
}

}  // namespace

std::optional<OpenedGraph> open_graph(const std::string& path, const std::string& what,
                                      const GraphRequest& request, Diagnostics& diagnostics) {
  std::error_code ignored;
  // What is no regular file can be read only once.
  if (is_standard_input(path) || !std::filesystem::is_regular_file(to_path(path), ignored))
    return std::nullopt;
  return with_context("reading " + what + path, [&]() -> std::optional<OpenedGraph> {
    if (extension_of(path) == ".json") return open_json_graph(path, request, diagnostics);
    const InputFile file = InputFile::open(path);
    return file.read_intact([&](std::span<const std::byte> bytes) -> std::optional<OpenedGraph> {
      if (extension_of(path) != extension && !is_serialized_graph(bytes)) return std::nullopt;
      return OpenedGraph{read_graph(path, bytes, diagnostics)};
    });
  });
}

std::string constant_path(const Graph& graph, const std::string& name) {
  return to_text(to_path(graph.file).parent_path() / to_path(name + extension));
}

bool is_npy(const std::string& path) {
  return extension_of(path) == ".npy";
}

PathProblem problem_of_constant(const std::string& name) {
  const bool has_separator = name.find_first_of("/\\:") != std::string::npos;
  if (name.empty() || has_separator || name.find('\0') != std::string::npos)
    return {"is not the name of a file beside the graph", "it has no /, \\ or :"};
  return Confinement(".").problem_of_text(name + extension);
}

}  // namespace dmlop
