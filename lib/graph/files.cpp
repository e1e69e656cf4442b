#include "graph/files.hpp"

#include <filesystem>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

constexpr const char* extension = ".bin";

}  // namespace

std::optional<OpenedGraph> open_graph(const std::string& path, const std::string& what,
                                      Diagnostics& diagnostics) {
  std::error_code ignored;
  // What is no regular file can be read only once.
  if (is_standard_input(path) || !std::filesystem::is_regular_file(to_path(path), ignored))
    return std::nullopt;
  return with_context("reading " + what + path, [&] {
    const InputFile file = InputFile::open(path);
    return file.read_intact([&](std::span<const std::byte> bytes) -> std::optional<OpenedGraph> {
      const bool is_named = lower_case(to_text(to_path(path).extension())) == extension;
      if (!is_named && !is_serialized_graph(bytes)) return std::nullopt;
      return OpenedGraph{read_graph(path, bytes, diagnostics)};
    });
  });
}

std::string constant_path(const Graph& graph, const std::string& name) {
  return to_text(to_path(graph.file).parent_path() / to_path(name + extension));
}

PathProblem problem_of_constant(const std::string& name) {
  const bool has_separator = name.find_first_of("/\\:") != std::string::npos;
  if (name.empty() || has_separator || name.find('\0') != std::string::npos)
    return {"is not the name of a file beside the graph", "it has no /, \\ or :"};
  return Confinement(".").problem_of_text(name + extension);
}

}  // namespace dmlop
