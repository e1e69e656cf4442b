// dmlop bench of a graph: the whole of it, its operators and its nodes.

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "base/output.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "bench_program.hpp"
#include "bench_text.hpp"
#include "graph/lower.hpp"
#include "model/runtime.hpp"
#include "stopwatch.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* graph_name = "graph";  // of the whole in a baseline

Quartiles quartiles_of_unsorted(std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  return quartiles_of(seconds);
}

/// How long a node takes, or how long all nodes of an operator do.
struct NodeTimes {
  std::string name;
  std::size_t nodes = 1;
  Quartiles seconds = {};  // of an operator, only the median: the sum of those of its nodes
};

std::vector<NodeTimes> slowest_first(std::vector<NodeTimes> times) {
  std::stable_sort(times.begin(), times.end(), [](const NodeTimes& a, const NodeTimes& b) {
    return a.seconds.median > b.seconds.median;
  });
  return times;
}

/// Seconds of one run of a graph.
struct GraphRun {
  double whole = 0;
  std::vector<double> nodes;  // each executed alone
};

/// How long a graph and its nodes took in each of its runs.
class GraphTimes {
 public:
  GraphTimes(const Model& model, std::vector<GraphRun> runs, std::string devices)
      : model_(&model), runs_(std::move(runs)), devices_(std::move(devices)) {}

  std::vector<double> totals() const {
    std::vector<double> totals;
    for (const GraphRun& run : runs_) totals.push_back(run.whole);
    std::sort(totals.begin(), totals.end());
    return totals;
  }

  /// Of the whole graph.
  Quartiles quartiles() const { return quartiles_of(totals()); }

  std::vector<NodeTimes> nodes() const {
    std::vector<NodeTimes> nodes;
    for (std::size_t i = 0; i < model_->commands.size(); ++i) {
      std::vector<double> seconds;
      for (const GraphRun& run : runs_) seconds.push_back(run.nodes[i]);
      nodes.push_back({node(i).name, 1, quartiles_of_unsorted(std::move(seconds))});
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
      times.seconds.median += all[i].seconds.median;
    }
    std::vector<NodeTimes> list;
    for (auto& [name, times] : operators) list.push_back(std::move(times));
    return slowest_first(std::move(list));
  }

  const std::string& devices() const { return devices_; }

 private:
  const Dispatchable& node(std::size_t i) const {
    return model_->dispatchables[std::get<DispatchCommand>(model_->commands[i]).dispatchable];
  }

  const Model* model_;
  std::vector<GraphRun> runs_;
  std::string devices_;
};

double run_whole(const Model& model, Runtime& runtime) {
  Stopwatch clock;
  for (const ModelCommand& command : model.commands)
    runtime.enqueue(std::get<DispatchCommand>(command));
  runtime.finish();
  return clock.lap();
}

std::vector<double> run_nodes(const Model& model, Runtime& runtime) {
  std::vector<double> seconds;
  Stopwatch clock;
  for (const ModelCommand& command : model.commands) {
    runtime.dispatch(std::get<DispatchCommand>(command));
    seconds.push_back(clock.lap());
  }
  return seconds;
}

// A GPU is given many nodes of a graph at a time, but to measure a node it is waited for.
GraphRun run_once(const Model& model, Runtime& runtime, bool is_gpu) {
  GraphRun run;
  if (is_gpu) run.whole = run_whole(model, runtime);
  run.nodes = run_nodes(model, runtime);
  if (!is_gpu) run.whole = std::accumulate(run.nodes.begin(), run.nodes.end(), 0.0);
  return run;
}

/// Runs a graph again and again, whose edges stay where they are.
/// Inputs of `without_inputs` have no values, so that they are no constants.
GraphTimes time_graph(const Model& model, const Model& without_inputs, Backend& backend,
                      const BenchOptions& options) {
  constexpr auto keep = PreparedModel::Keep::plans_and_constants;
  Runtime runtime(model, backend, options.execution,
                  std::make_shared<PreparedModel>(without_inputs, keep));
  run_nodes(model, runtime);  // makes what the device needs, and is not counted
  std::vector<GraphRun> runs;
  Stopwatch clock;
  for (double seconds = 0; runs.size() < options.min_runs || seconds < options.min_seconds;
       seconds += clock.lap()) {
    check_for_stop();
    runs.push_back(run_once(model, runtime, backend.is_gpu()));
  }
  return {model, std::move(runs), join(runtime.devices())};
}

void print_rows(const std::string& title, const std::vector<NodeTimes>& rows, double total) {
  constexpr std::size_t shown = 10;
  print({title, "\n"});
  for (std::size_t i = 0; i < std::min(rows.size(), shown); ++i) {
    const NodeTimes& row = rows[i];
    print({"  ", padded(time_text(row.seconds.median), 10), " ",
           padded(with_decimals(100 * row.seconds.median / total, 1) + " percent", 14), " ",
           row.name, row.nodes > 1 ? " (" + std::to_string(row.nodes) + " nodes)" : std::string(),
           "\n"});
  }
  if (rows.size() > shown) print({"  and ", rows.size() - shown, " more\n"});
}

void print_graph_times(const GraphTimes& times) {
  const std::vector<double> totals = times.totals();
  const double total = totals[totals.size() / 2];
  const std::vector<NodeTimes> nodes = times.nodes();
  double alone = 0;
  for (const NodeTimes& node : nodes) alone += node.seconds.median;
  print({row_title("device"), times.devices(), "\n"});
  print({row_title("time"), time_text(total), " median, ", time_text(totals.front()), " min of ",
         counted(totals.size(), "run"), " (wall clock)\n"});
  const std::string how = times.devices() == "cpu" ? "" : ", each executed alone";
  print_rows("operators" + how, times.operators(), alone);
  print_rows("nodes" + how + ", the slowest first", slowest_first(nodes), alone);
}

Json rows_json(const std::vector<NodeTimes>& rows, bool has_nodes) {
  Json list = Json::array();
  for (const NodeTimes& row : rows) {
    list.push_back({{has_nodes ? "operator" : "name", row.name}});
    if (has_nodes) list.back()["nodes"] = row.nodes;
    list.back()["medianSeconds"] = row.seconds.median;
    if (!has_nodes) list.back()["quartileSeconds"] = {row.seconds.lower, row.seconds.upper};
  }
  return list;
}

std::vector<TimedCase> timed_nodes(const GraphTimes& times) {
  std::vector<TimedCase> nodes;
  for (const NodeTimes& node : times.nodes()) nodes.push_back({node.name, node.seconds});
  return nodes;
}

Json graph_times_json(const GraphTimes& times) {
  const std::vector<double> totals = times.totals();
  const Quartiles quartiles = times.quartiles();
  return {{"device", times.devices()},
          {"runs", totals.size()},
          {"clock", "wall"},
          {"medianSeconds", quartiles.median},
          {"quartileSeconds", {quartiles.lower, quartiles.upper}},
          {"minSeconds", totals.front()},
          {"operators", rows_json(times.operators(), true)},
          {"nodes", rows_json(times.nodes(), false)}};
}

BenchReport bench_graph(const std::shared_ptr<const Model>& model, const Model& without_inputs,
                        const gpu::DeviceRequest& device, const BenchOptions& options) {
  stop_jobs_gently();
  Backend backend = open_backend(device, /*quiet=*/false);
  GraphTimes times = time_graph(*model, without_inputs, backend, options);
  MeasuredCase measured{.timed = {graph_name, times.quartiles()},
                        .nodes = timed_nodes(times),
                        .json = graph_times_json(times)};
  measured.print = [model, times = std::move(times)] { print_graph_times(times); };
  return {.conditions = bench_conditions(backend.spec(), backend.kind(), options.execution),
          .cases = {std::move(measured)}};
}

}  // namespace

std::optional<BenchProgram> graph_bench(const Graph& graph, bool is_onnx,
                                        const BenchCommandOptions& options,
                                        Diagnostics& diagnostics) {
  Diagnostics found, warnings;
  auto lowered = lower_graph(graph, {.checking = options.request.checking}, found, warnings);
  const auto without_inputs = std::make_shared<const Model>(lowered ? lowered->model : Model());
  // Inputs of an ONNX model are constants of the graph. What has no file is made up.
  const std::vector<NamedFile> none;
  if (lowered)
    bind_inputs(*lowered,
                {.description_path = graph.file,
                 .inputs = is_onnx ? none : options.request.inputs,
                 .outputs = {},
                 .random = RandomNumbers{}},
                found);
  diagnostics.insert(diagnostics.end(), found.begin(), found.end());
  if (!found.empty()) return std::nullopt;
  const auto model = std::make_shared<const Model>(std::move(lowered->model));
  const auto measure = [model, without_inputs,
                        device = options.device.request()](const BenchOptions& bench_options) {
    return bench_graph(model, *without_inputs, device, bench_options);
  };
  return BenchProgram{.cases = {graph_name}, .warnings = std::move(warnings), .measure = measure};
}

}  // namespace dmlop::app
