#include "graph/join_graphs.hpp"

#include <algorithm>
#include <set>

#include "base/path.hpp"
#include "base/text.hpp"

namespace dmlop {
namespace {

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

class Joiner {
 public:
  Joiner(std::vector<Graph> graphs, Diagnostics& diagnostics)
      : graphs_(std::move(graphs)), diagnostics_(diagnostics) {
    joined_.file = graphs_.front().file;
    for (const Graph& graph : graphs_) {
      taken_.insert(graph.inputs.begin(), graph.inputs.end());
      taken_.insert(graph.outputs.begin(), graph.outputs.end());
      for (const std::string& output : graph.outputs) {
        if (!written_.insert(output).second)
          refuse(graph, "the output \"" + printable(output) + "\" is also that of another graph");
      }
    }
  }

  std::optional<Graph> join() {
    if (has_findings_) return std::nullopt;
    while (!graphs_.empty()) {
      const auto next = std::ranges::find_if(graphs_, [&](const Graph& graph) {
        return std::ranges::none_of(
            graph.inputs, [&](const std::string& input) { return written_.contains(input); });
      });
      if (next == graphs_.end()) {
        refuse(graphs_.front(), "each of the graphs waits for an output of another one");
        return std::nullopt;
      }
      append(std::move(*next));
      graphs_.erase(next);
    }
    return std::move(joined_);
  }

 private:
  void refuse(const Graph& graph, std::string message) {
    has_findings_ = true;
    diagnostics_.push_back({.file = graph.file,
                            .message = std::move(message),
                            .suggestion = "run the graphs one by one, by their names"});
  }

  void append(Graph graph) {
    const std::string prefix = to_text(to_path(graph.file).stem()) + "/";
    std::set<std::string> own;  // edges within the graph, as they were
    const auto rename = [&](std::vector<std::string>& edges) {
      for (std::string& edge : edges) {
        if (edge.empty() || has(graph.inputs, edge) || has(graph.outputs, edge)) continue;
        own.insert(edge);
        if (taken_.contains(edge)) edge.insert(0, prefix);
      }
    };
    for (GraphNode& node : graph.nodes) {
      rename(node.inputs);
      rename(node.outputs);
      joined_.nodes.push_back(std::move(node));
    }
    taken_.merge(own);
    for (std::string& input : graph.inputs) {
      if (!has(joined_.outputs, input) && !has(joined_.inputs, input))
        joined_.inputs.push_back(std::move(input));
    }
    for (std::string& output : graph.outputs) {
      written_.erase(output);  // nobody waits for it any more
      joined_.outputs.push_back(std::move(output));
    }
  }

  std::vector<Graph> graphs_;
  Diagnostics& diagnostics_;
  std::set<std::string> written_;  // outputs of graphs that are yet to be appended
  std::set<std::string> taken_;    // names that edges within the next graph cannot have
  bool has_findings_ = false;
  Graph joined_;
};

}  // namespace

std::optional<Graph> join_graphs(std::vector<Graph> graphs, Diagnostics& diagnostics) {
  return Joiner(std::move(graphs), diagnostics).join();
}

}  // namespace dmlop
