#include "graph/save.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/buffer.hpp"
#include "base/file.hpp"
#include "base/path.hpp"
#include "base/text.hpp"
#include "graph/constants.hpp"
#include "graph/edge_names.hpp"
#include "graph/files.hpp"
#include "graph/json_graph.hpp"
#include "model/convert_json.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

// ONNX Runtime writes longer ones to files.
constexpr std::uint64_t inline_bytes_max = 7;

void write_file(const std::string& path, Contents contents, std::span<const std::byte> bytes) {
  OutputFile file(path, bytes.size(), contents);
  file.write_at(0, bytes);
  file.commit();
}

/// The file that a constant comes from; "" if its bytes stand in the graph.
std::string source_of(const Graph& graph, const GraphConstant& constant) {
  if (constant.name) return constant_path(graph, *constant.name);
  return constant.path;
}

void require_other_files(const Graph& graph, const std::vector<std::string>& written) {
  std::vector<std::string> read = graph.external_files;
  read.push_back(graph.file);
  for (const GraphNode& node : graph.nodes) {
    const auto* constant = std::get_if<GraphConstant>(&node.content);
    if (constant != nullptr) read.push_back(source_of(graph, *constant));
  }
  for (const std::string& path : written) {
    for (const std::string& source : read) {
      if (!source.empty() && is_same_file(source, path))
        throw Error(ErrorKind::usage,
                    path + " is read by this conversion; write to another folder");
    }
  }
}

/// The bytes of a constant's file: those of the constant, and as many zeros as make whole words.
Buffer file_bytes(const InitialValues& values, const std::string& path) {
  Buffer bytes((values.bytes + 3) / 4 * 4, path);
  values.fill(bytes.bytes().first(values.bytes));
  return bytes;
}

bool holds(const std::string& path, const InitialValues& values) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(to_path(path), ignored)) return false;
  const InputFile file = InputFile::open(path);
  if (file.bytes().size() != (values.bytes + 3) / 4 * 4) return false;
  return std::ranges::equal(file.bytes(), file_bytes(values, path).bytes());
}

std::string stem_of(const std::string& path) {
  return to_text(to_path(path).stem());
}

/// Gives the constants of a graph the names of files beside `path`.
class ConstantFiles {
 public:
  ConstantFiles(const Graph& graph, const std::string& path)
      : graph_(graph), path_(path), taken_{lower_case(stem_of(path))} {}

  /// The graph with its constants in files beside it, or inline.
  Graph place() {
    Graph placed = graph_;
    placed.file = path_;
    for (GraphNode& node : placed.nodes) {
      if (auto* constant = std::get_if<GraphConstant>(&node.content)) place(node, *constant);
    }
    return placed;
  }

  /// What is to be written, by path.
  std::map<std::string, InitialValues> files;

 private:
  void place(const GraphNode& node, GraphConstant& constant) {
    Diagnostics findings;
    const auto values = constant_values(graph_, node, constant, {}, findings, findings);
    if (!values) throw Error(findings.front().kind, findings.front().message);
    if (values->bytes <= inline_bytes_max) {
      GraphConstant inlined;
      inlined.bytes.resize(values->bytes);
      values->fill(inlined.bytes);
      constant = std::move(inlined);
      return;
    }
    const std::string source = source_of(graph_, constant);
    const auto known = names_.find(source);
    const std::string name = known != names_.end() && !source.empty()
                                 ? known->second
                                 : new_name(source.empty() ? node.name : stem_of(source), *values);
    const std::string target = target_of(name);
    if (!source.empty()) names_[source] = name;
    std::error_code ignored;
    if (!std::filesystem::exists(to_path(target), ignored)) files.emplace(target, *values);
    constant = {.name = name};
  }

  std::string target_of(const std::string& name) const {
    return to_text(to_path(path_).parent_path() / to_path(name + ".bin"));
  }

  // A file that is there may be a constant of another graph. It may stay if it has the same bytes.
  bool is_free(const std::string& name, const InitialValues& values) {
    std::error_code ignored;
    const std::string target = target_of(name);
    return taken_.insert(lower_case(name)).second &&
           (!std::filesystem::exists(to_path(target), ignored) || holds(target, values));
  }

  // A name that every file system takes, with a number if it is taken.
  std::string new_name(const std::string& wished, const InitialValues& values) {
    const std::string name = safe_file_name(wished.empty() ? "constant" : wished);
    std::string unique = name;
    for (int i = 1; !is_free(unique, values); ++i) unique = name + "_" + std::to_string(i);
    return unique;
  }

  const Graph& graph_;
  const std::string& path_;
  std::map<std::string, std::string> names_;  // of constants, by the file that they come from
  std::set<std::string> taken_;
};

/// A serialized graph does not say what its inputs are: they are as large as what nodes read of
/// them.
void require_whole_inputs(const Graph& graph) {
  std::map<std::string, std::uint64_t> read;  // elements that nodes reach, by the edge
  for (const GraphNode& node : graph.nodes) {
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    const auto uses = operation ? uses_of(node.inputs, operation->inputs) : std::nullopt;
    for (const GraphUse& use : uses.value_or(std::vector<GraphUse>{})) {
      if (use.tensor == nullptr) continue;
      const Sizes sizes(use.tensor->sizes.begin(), use.tensor->sizes.end());
      const auto& strides = use.tensor->strides;
      const auto reached = reached_elements(
          sizes, strides ? Strides(strides->begin(), strides->end()) : packed_strides(sizes));
      read[use.edge] = std::max(read[use.edge], reached.value_or(0));
    }
  }
  for (const std::string& input : graph.inputs) {
    const auto said = graph.sizes.find(input);
    const auto reached = read.find(input);
    if (said == graph.sizes.end() || reached == read.end()) continue;
    const std::uint64_t count = element_count(said->second).value_or(0);
    if (reached->second >= count) continue;
    throw Error(ErrorKind::unavailable,
                "the input \"" + printable(input) + "\" has " + std::to_string(count) +
                    " elements, but nodes read the first " + std::to_string(reached->second) +
                    " only: a serialized graph does not say how large its inputs are, and would "
                    "refuse this one; write the graph as JSON, which says so");
  }
}

/// Writes the files of constants. Returns their paths and that of the graph.
std::vector<std::string> write_constants(const Graph& graph, const ConstantFiles& constants,
                                         const std::string& path) {
  std::vector<std::string> written;
  for (const auto& [target, values] : constants.files) written.push_back(target);
  written.push_back(path);
  require_other_files(graph, written);
  for (const auto& [target, values] : constants.files)
    write_file(target, Contents::binary, file_bytes(values, target).bytes());
  return written;
}

/// Whether bytes lie where JSON cannot name them: in a part of a file.
bool has_constants_elsewhere(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const GraphNode& node) {
    const auto* constant = std::get_if<GraphConstant>(&node.content);
    return constant != nullptr && constant->view != nullptr;
  });
}

}  // namespace

std::vector<std::string> save_serialized(const Graph& graph, const std::string& path) {
  require_whole_inputs(graph);
  ConstantFiles constants(graph, path);
  const Graph placed = constants.place();
  std::vector<std::string> written = write_constants(graph, constants, path);
  write_file(path, Contents::binary, write_graph(placed));
  return written;
}

std::vector<std::string> save_json(const Graph& graph, const std::string& path) {
  std::vector<std::string> written{path};
  std::string text;
  if (has_constants_elsewhere(graph)) {
    ConstantFiles constants(graph, path);
    text = readable_text(json_of(constants.place(), path));
    written = write_constants(graph, constants, path);
  } else {
    require_other_files(graph, written);
    text = readable_text(json_of(graph, path));
  }
  write_file(path, Contents::text, std::as_bytes(std::span(text)));
  return written;
}

}  // namespace dmlop
