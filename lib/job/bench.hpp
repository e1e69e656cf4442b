// Measures one operator on one device, in memory: no files, results checked first.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "job/job.hpp"
#include "job/slowdown.hpp"

namespace dmlop {

struct BenchOptions {
  double min_seconds = 1;
  unsigned min_runs = 10;
  ExecutionOptions execution;
};

/// Either a value or the reason why there is none.
struct Measured {
  std::optional<double> value;
  std::string reason;
};

struct BenchResult {
  std::string device;
  std::string device_kind;         // "cpu", or a GPU's name
  std::uint64_t input_bytes = 0;   // of all inputs, what is read, once
  std::uint64_t output_bytes = 0;  // written once
  std::vector<double> seconds;     // of every run, sorted; GPU: of its timestamps, CPU: wall
  std::string clock;               // "device" or "wall"
  Measured copy_bytes_per_second;  // the same device's copy rate, counting bytes read and written
  Measured set_up_seconds;
  Measured upload_seconds;
  Measured download_seconds;

  double median() const { return seconds[seconds.size() / 2]; }
  Quartiles quartiles() const { return quartiles_of(seconds); }
  double percentile95() const { return seconds[seconds.size() * 95 / 100]; }
  double bytes_per_second() const {
    return static_cast<double>(input_bytes + output_bytes) / median();
  }
};

/// Fills inputs that have no file with random data, runs once, compares with the CPU, then
/// measures. Errors: run_failed when the result is wrong or the tensors are too large for one
/// dispatch.
BenchResult bench(const Job& job, const gpu::DeviceRequest& request, const BenchOptions& options);

/// The same for an operator's plan and its inputs in memory, by slot.
BenchResult bench(const OperatorSpec& spec, const Plan& plan, SlotBytes inputs,
                  const gpu::DeviceRequest& request, const BenchOptions& options);

}  // namespace dmlop
