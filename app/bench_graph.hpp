// dmlop bench of a graph: the whole of it, its operators and its nodes.
#pragma once

#include <vector>

#include "command.hpp"
#include "device_options.hpp"
#include "graph/graph.hpp"
#include "job/bench.hpp"

namespace dmlop::app {

struct GraphBench {
  const std::vector<NamedFile>& inputs;  // others are made up
  const Checking& checking;
  const BenchOptions& bench;
  const DeviceOptions& device;
  Format format = Format::text;
};

/// Runs all nodes again and again, and shows how long they take. Returns the exit code.
int bench_graph(const Graph& graph, const GraphBench& options);

}  // namespace dmlop::app
