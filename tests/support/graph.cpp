#include "graph.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "paths.hpp"

namespace dmlop::test {

namespace fs = std::filesystem;

std::vector<std::string> GraphCase::graphs() const {
  std::vector<std::string> paths;
  const std::size_t count = about.at("partitions");
  for (std::size_t i = 0; i < count; ++i)
    paths.push_back(file("Partition_" + std::to_string(i) + ".bin"));
  return paths;
}

bool GraphCase::has_tag(const std::string& tag) const {
  const auto& tags = about.at("tags");
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

const std::vector<GraphCase>& graph_cases() {
  static const std::vector<GraphCase> cases = [] {
    std::vector<GraphCase> found;
    for (const auto& entry : fs::directory_iterator(conformance_path("graphs")))
      found.push_back({entry.path(), nlohmann::json::parse(read_file(entry.path() / "case.json"))});
    std::sort(found.begin(), found.end(),
              [](const GraphCase& a, const GraphCase& b) { return a.folder < b.folder; });
    return found;
  }();
  return cases;
}

std::string graph_file(const std::string& name, const std::string& file) {
  return to_text(fs::path(conformance_path("graphs")) / name / file);
}

Graph valid_graph(const std::string& path) {
  Diagnostics diagnostics;
  auto opened = open_graph(path, "", diagnostics);
  REQUIRE_MESSAGE(diagnostics.empty(), to_text(diagnostics.front()));
  REQUIRE(opened);
  REQUIRE(opened->graph);
  return std::move(*opened->graph);
}

std::string findings_of(const Graph& graph, const GraphRequest& request) {
  Diagnostics diagnostics, notes;
  const auto lowered = lower_graph(graph, request, diagnostics, notes);
  CHECK(lowered.has_value() == diagnostics.empty());
  std::vector<std::string> messages;
  for (const Diagnostic& diagnostic : diagnostics) messages.push_back(diagnostic.message);
  return join(messages, "\n");
}

}  // namespace dmlop::test
