// What dmlop run prints about the run of a description.
#pragma once

#include <string>
#include <vector>

#include "base/exit_codes.hpp"
#include "gpu/device_info.hpp"
#include "job/job.hpp"
#include "run_options.hpp"

namespace dmlop::app {

/// The seconds of each phase of a run. The device's own are known only if it measures them.
struct RunTimings {
  double check = 0;
  double set_up = 0;
  double execute_and_write = 0;
  gpu::DispatchTimes device;
};

/// What the run ends with.
struct RunOutcome {
  int exit_code = exit_done;
  std::vector<OutputComparison> comparisons;
};

/// The exit code of a run with these comparisons. `accept`: also where golden files were written.
int exit_code_of(const std::vector<OutputComparison>& comparisons, bool accept);

/// Prints the outputs that were written and those that are `shown`, what the comparisons found, and
/// the times if they are asked for.
void print_result(const Job& job, const RunOptions& options, const std::string& device,
                  const RunTimings& timings, const RunOutcome& outcome,
                  const std::vector<OutputInMemory>& shown);

}  // namespace dmlop::app
