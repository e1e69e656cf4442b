// Any bytes as a serialized graph: refused with a reason, or read as a graph whose nodes are
// checked. What is valid and small runs, on inputs and constants of zeros.
#include "graph/graph.hpp"

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "graph/lower.hpp"
#include "model/runtime.hpp"
#include "paths.hpp"

namespace dmlop::test {
namespace {

constexpr std::uint64_t small = 1 << 14;  // bytes that are computed in no time
constexpr double seconds_max = 0.1;

void run_small(const Model& model) {
  std::uint64_t bytes = 0;
  for (const Resource& resource : model.resources) {
    if (resource.size > small) return;
    bytes += resource.size;
  }
  if (bytes > small || model.commands.size() > 16) return;
  const Deadline deadline(seconds_max);
  try {
    Backend cpu;
    Runtime runtime(model, cpu, {.threads = 1});
    for (const ModelCommand& command : model.commands)
      runtime.dispatch(std::get<DispatchCommand>(command));
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::run_failed, "what is valid runs, or takes too long");
  }
}

// Without their files, constants have as many zeros as are read.
void give_zeros(Model& model) {
  for (const ModelCommand& command : model.commands) {
    for (const TensorBinding& binding : std::get<DispatchCommand>(command).bindings) {
      Resource& resource = model.resources[binding.range.resource];
      resource.size = std::max(resource.size, binding.range.size);
    }
  }
}

}  // namespace

void fuzz_graph(std::span<const std::byte> bytes) {
  Diagnostics findings, notes;
  const auto graph = read_graph("no_such_folder/x.bin", bytes, findings);
  require(graph.has_value() == findings.empty(), "a graph without findings is read, no other");
  require(!graph || graph->nodes.size() <= graph_nodes_max,
          "a graph has no more nodes than may be");
  is_serialized_graph(bytes);
  if (graph) {
    auto lowered = lower_graph(*graph, {.constants_may_be_missing = true}, findings, notes);
    require(lowered.has_value() == findings.empty(), "a model without findings is made, no other");
    if (lowered) {
      give_zeros(lowered->model);
      run_small(lowered->model);
    }
  }
  for (const Diagnostic& finding : findings)
    require(!finding.message.empty() && !to_text(finding).empty(), "a finding says what is wrong");
}

std::vector<std::string> graph_seeds() {
  std::vector<std::string> seeds;
  for (const auto& path : files_below(conformance_path("graphs"), ".bin")) {
    if (path.filename().string().starts_with("Partition_")) seeds.push_back(read_file(path));
  }
  return seeds;
}

}  // namespace dmlop::test
