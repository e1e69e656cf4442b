#include "bench_graph.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "bench_text.hpp"
#include "exit_codes.hpp"
#include "graph/lower.hpp"
#include "model/runtime.hpp"
#include "model_commands.hpp"
#include "stopwatch.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

double median(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

/// How long nodes take: one of them, or all of an operator.
struct NodeTimes {
  std::string name;
  std::size_t nodes = 1;
  double median = 0;
};

std::vector<NodeTimes> slowest_first(std::vector<NodeTimes> times) {
  std::stable_sort(times.begin(), times.end(),
                   [](const NodeTimes& a, const NodeTimes& b) { return a.median > b.median; });
  return times;
}

/// Runs a graph, whose edges stay where they are, and keeps the times of its nodes.
class GraphTimer {
 public:
  GraphTimer(const Model& model, Backend& backend, const BenchOptions& options)
      : model_(model), options_(options), runtime_(model, backend, options.execution) {
    run();  // makes what the device needs, and is not counted
    Stopwatch clock;
    for (double seconds = 0; runs_.size() < options.min_runs || seconds < options.min_seconds;
         seconds += clock.lap()) {
      check_for_stop();
      runs_.push_back(run());
    }
  }

  std::vector<double> totals() const {
    std::vector<double> totals;
    for (const std::vector<double>& run : runs_) {
      double total = 0;
      for (const double seconds : run) total += seconds;
      totals.push_back(total);
    }
    std::sort(totals.begin(), totals.end());
    return totals;
  }

  const Dispatchable& node(std::size_t i) const {
    return model_.dispatchables[std::get<DispatchCommand>(model_.commands[i]).dispatchable];
  }

  std::vector<NodeTimes> nodes() const {
    std::vector<NodeTimes> nodes;
    for (std::size_t i = 0; i < model_.commands.size(); ++i) {
      std::vector<double> seconds;
      for (const std::vector<double>& run : runs_) seconds.push_back(run[i]);
      nodes.push_back({node(i).name, 1, median(std::move(seconds))});
    }
    return nodes;
  }

  std::vector<NodeTimes> operators() const {
    const std::vector<NodeTimes> all = nodes();
    std::map<std::string, NodeTimes> operators;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::string& name = node(i).description->spec->name;
      NodeTimes& times = operators.try_emplace(name, NodeTimes{name, 0}).first->second;
      ++times.nodes;
      times.median += all[i].median;
    }
    std::vector<NodeTimes> list;
    for (auto& [name, times] : operators) list.push_back(std::move(times));
    return slowest_first(std::move(list));
  }

  std::string devices() const { return join(runtime_.devices()); }

 private:
  std::vector<double> run() {
    std::vector<double> seconds;
    Stopwatch clock;
    for (const ModelCommand& command : model_.commands) {
      runtime_.dispatch(std::get<DispatchCommand>(command));
      seconds.push_back(clock.lap());
    }
    return seconds;
  }

  const Model& model_;
  const BenchOptions& options_;
  Runtime runtime_;
  std::vector<std::vector<double>> runs_;  // seconds of each node
};

void print_rows(const std::string& title, const std::vector<NodeTimes>& rows, double total) {
  constexpr std::size_t shown = 10;
  print({title, "\n"});
  for (std::size_t i = 0; i < std::min(rows.size(), shown); ++i) {
    const NodeTimes& row = rows[i];
    print({"  ", padded(time_text(row.median), 10), " ",
           padded(with_decimals(100 * row.median / total, 1) + " percent", 14), " ", row.name,
           row.nodes > 1 ? " (" + std::to_string(row.nodes) + " nodes)" : std::string(), "\n"});
  }
  if (rows.size() > shown) print({"  and ", rows.size() - shown, " more\n"});
}

void print_graph_times(const GraphTimer& timer) {
  const std::vector<double> totals = timer.totals();
  const double total = totals[totals.size() / 2];
  print({row_title("device"), timer.devices(), "\n"});
  print({row_title("time"), time_text(total), " median, ", time_text(totals.front()), " min of ",
         counted(totals.size(), "run"), " (wall clock)\n"});
  print_rows("operators", timer.operators(), total);
  print_rows("nodes, the slowest first", slowest_first(timer.nodes()), total);
}

Json rows_json(const std::vector<NodeTimes>& rows, bool has_nodes) {
  Json list = Json::array();
  for (const NodeTimes& row : rows) {
    list.push_back({{has_nodes ? "operator" : "name", row.name}});
    if (has_nodes) list.back()["nodes"] = row.nodes;
    list.back()["medianSeconds"] = row.median;
  }
  return list;
}

void print_graph_times_json(const GraphTimer& timer, const Diagnostics& notes) {
  const std::vector<double> totals = timer.totals();
  print_json({{"device", timer.devices()},
              {"runs", totals.size()},
              {"clock", "wall"},
              {"medianSeconds", totals[totals.size() / 2]},
              {"minSeconds", totals.front()},
              {"operators", rows_json(timer.operators(), true)},
              {"nodes", rows_json(timer.nodes(), false)},
              {"warnings", notes_json(notes)}});
}

}  // namespace

int bench_graph(const Graph& graph, const GraphBench& options) {
  Diagnostics diagnostics, notes;
  auto lowered = lower_graph(graph, {.checking = options.checking}, diagnostics, notes);
  if (lowered)
    bind_inputs(*lowered,
                {.description_path = graph.file,
                 .inputs = options.inputs,
                 .outputs = {},
                 .random = RandomNumbers{}},
                diagnostics);
  if (!diagnostics.empty()) return report(diagnostics, options.format);
  if (options.format == Format::text) print_notes(notes);
  stop_jobs_gently();
  Backend backend(options.device.request());
  if (!backend.notice().empty()) print(StandardStream::error, {"dmlop: ", backend.notice(), "\n"});
  const GraphTimer timer(lowered->model, backend, options.bench);
  options.format == Format::json ? print_graph_times_json(timer, notes) : print_graph_times(timer);
  return exit_done;
}

}  // namespace dmlop::app
