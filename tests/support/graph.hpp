// The serialized graphs of conformance/graphs.tar.xz, and graphs made by tests.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.hpp"
#include "graph/files.hpp"
#include "graph/lower.hpp"

namespace dmlop::test {

/// A model as ONNX Runtime serialized it: one or more graphs with their files.
struct GraphCase {
  std::filesystem::path folder;
  nlohmann::json about;  // case.json

  std::string name() const { return dmlop::to_text(folder.filename()); }
  std::string file(const std::string& name) const { return dmlop::to_text(folder / to_path(name)); }
  /// The paths of its graphs, in the order in which they run.
  std::vector<std::string> graphs() const;
  bool has_tag(const std::string& tag) const;
};

/// All of them, by name.
const std::vector<GraphCase>& graph_cases();

/// A file of one of the cases.
std::string graph_file(const std::string& name, const std::string& file = "Partition_0.bin");

/// A graph that has no findings.
Graph valid_graph(const std::string& path);

/// All findings of a graph, one line each.
std::string findings_of(const Graph& graph, const GraphRequest& request = {});

}  // namespace dmlop::test
