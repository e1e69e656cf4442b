// bench --baseline: what an earlier `dmlop bench --format json` measured, and what has become
// slower.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "job/backend.hpp"
#include "job/slowdown.hpp"

namespace dmlop::app {

/// What times depend on beside the program and the description.
struct BenchConditions {
  std::string version;      // of dmlop
  std::string device;       // "cpu" or "vulkan:0"
  std::string device_name;  // "cpu", or the GPU's name
  std::string machine;      // its processor; "": unknown
  unsigned threads = 0;     // of the CPU that are used

  /// "dmlop VERSION, cpu, 4 threads".
  std::string text() const;
};

BenchConditions bench_conditions(const std::string& device, const std::string& device_name,
                                 const ExecutionOptions& execution);
nlohmann::ordered_json to_json(const BenchConditions& conditions);

/// An earlier run.
struct Baseline {
  std::string file;
  BenchConditions conditions;
  std::vector<TimedCase> cases = {};
  std::vector<TimedCase> nodes = {};  // of a graph
};

/// The options, and what comes of them.
class BaselineOptions {
 public:
  /// Declares --baseline and --max-slowdown.
  void add_to(OptionList& command);
  /// Reads the file; nothing without one, or with findings. Errors: usage for --max-slowdown
  /// alone; io_failed.
  std::optional<Baseline> read(Diagnostics& diagnostics) const;
  double max_slowdown() const { return max_slowdown_.value_or(0.1); }

 private:
  std::string file_;
  std::optional<double> max_slowdown_;
};

/// Compares what a run measures with its baseline. Without a baseline it does nothing.
class BaselineComparison {
 public:
  BaselineComparison(std::optional<Baseline> baseline, double max_slowdown)
      : baseline_(std::move(baseline)), max_slowdown_(max_slowdown) {}

  bool has_baseline() const { return baseline_.has_value(); }
  /// Adds a finding for each condition that an option gives and that is another one, and a note if
  /// the machine is another one.
  void check(const BenchConditions& now, Diagnostics& diagnostics, Diagnostics& warnings) const;
  /// Adds a finding if the baseline has none of these cases.
  void check(const std::vector<std::string>& names, Diagnostics& diagnostics) const;

  /// Calls `measure` again and again with the cases that seem slower (measure_suspects()).
  template <typename Measure>
  void measure_suspects(const std::vector<TimedCase>& now, Measure&& measure) const {
    if (baseline_)
      dmlop::measure_suspects(baseline_->cases, now, max_slowdown_, std::forward<Measure>(measure));
  }

  /// Prints the table, or adds it to the document, and adds warnings. Returns the exit code, which
  /// cases decide and nodes do not.
  int show(const std::vector<TimedCase>& cases, const std::vector<TimedCase>& nodes) const;
  int add_to(nlohmann::ordered_json& json, const std::vector<TimedCase>& cases,
             const std::vector<TimedCase>& nodes) const;

 private:
  std::optional<Baseline> baseline_;
  double max_slowdown_;
};

}  // namespace dmlop::app
