// dmlop bench of one program: an operator, a DxDispatch model or a graph.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench_baseline.hpp"
#include "command.hpp"
#include "description_options.hpp"
#include "device_options.hpp"
#include "job/bench.hpp"
#include "model_commands.hpp"

namespace dmlop::app {

struct BenchCommandOptions {
  DescriptionOptions description;
  JobRequest request;
  BenchOptions bench;
  DeviceOptions device;
  ModelOptions model;
  OnnxOptions onnx;
  BaselineOptions baseline;
  Format format = Format::text;
};

struct MeasuredCase {
  TimedCase timed;
  std::vector<TimedCase> nodes;  // of a graph; they do not decide whether it has become slower
  nlohmann::ordered_json json;
  std::function<void()> print;
};

struct BenchReport {
  BenchConditions conditions;
  std::vector<MeasuredCase> cases;
  bool has_dispatches = false;  // each case is a dispatch of a model
};

/// A program that was checked and can be measured.
struct BenchProgram {
  std::vector<std::string> cases;  // their names
  Diagnostics warnings;
  std::function<BenchReport(const BenchOptions& options)> measure;
};

/// They check a program. Nothing, with findings, if it cannot be measured. The options must outlive
/// the result. Errors: usage for an option that the program does not have.
std::optional<BenchProgram> operator_bench(const OpenedFile& file,
                                           const BenchCommandOptions& options,
                                           Diagnostics& diagnostics);
std::optional<BenchProgram> model_bench(const OpenedFile& file, const BenchCommandOptions& options,
                                        Diagnostics& diagnostics);
std::optional<BenchProgram> graph_bench(const Graph& graph, bool is_onnx,
                                        const BenchCommandOptions& options,
                                        Diagnostics& diagnostics);

}  // namespace dmlop::app
