#include "graph/files.hpp"

#include <array>
#include <filesystem>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "graph/flatbuffer.hpp"
#include "job/folder.hpp"

namespace dmlop {
namespace {

constexpr const char* graph_extension = ".bin";

/// Whether the file begins as a flatbuffer: with an offset that leads into it. No other file that
/// is read here does, so each of them is mapped by its own reader alone.
bool begins_as_flatbuffer(const std::string& path) {
  std::error_code error;
  SystemFile file = SystemFile::open_to_read(path, error);
  if (error) fail_io(reason(error));
  const FileStatus status = file.status(error);
  if (error) fail_io(reason(error));
  std::array<std::byte, 4> first{};
  for (std::size_t used = 0; used < first.size();) {
    const std::size_t count = file.read_some_at(used, std::span(first).subspan(used), error);
    if (error) fail_io(reason(error));
    if (count == 0) return false;
    used += count;
  }
  const auto offset = flatbuffer::Bytes(first).number(0, first.size(), "the root table");
  return offset % 4 == 0 && offset != 0 && offset < status.bytes;
}

}  // namespace

std::optional<OpenedGraph> open_graph(const std::string& name, const std::string& what,
                                      Diagnostics& diagnostics,
                                      const SharedConfinement& confinement) {
  std::error_code ignored;
  const bool is_folder = std::filesystem::is_directory(to_path(name), ignored);
  const std::string path = is_folder ? description_in(name) : name;
  // What is not a regular file can be read only once.
  if (is_standard_input(path) || !std::filesystem::is_regular_file(to_path(path), ignored))
    return std::nullopt;
  return with_context("reading " + what + path, [&]() -> std::optional<OpenedGraph> {
    const bool is_named = lower_extension(path) == graph_extension;
    const PinnedFile pinned(confinement, path);
    if (!is_named && !begins_as_flatbuffer(pinned.path())) return std::nullopt;
    const InputFile file = InputFile::open(pinned);
    return file.read_intact([&](std::span<const std::byte> bytes) -> std::optional<OpenedGraph> {
      if (!is_named && !is_serialized_graph(bytes)) return std::nullopt;
      return OpenedGraph{read_graph(path, bytes, diagnostics)};
    });
  });
}

std::string constant_path(const Graph& graph, const std::string& name) {
  return to_text(to_path(graph.file).parent_path() / to_path(name + graph_extension));
}

bool is_npy(const std::string& path) {
  return lower_extension(path) == ".npy";
}

PathProblem problem_of_constant(const std::string& name) {
  const bool has_separator = name.find_first_of("/\\:") != std::string::npos;
  if (name.empty() || has_separator || name.find('\0') != std::string::npos)
    return {"is not the name of a file beside the graph", "it has no /, \\ or :"};
  // Not every system can have a file of such a name.
  if (valid_utf8(name) != name) return {"is not UTF-8", "names of files are UTF-8"};
  return Confinement(".").problem_of_text(name + graph_extension);
}

}  // namespace dmlop
