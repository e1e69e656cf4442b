// What measurements on the CPU and on a GPU share: memory, runs on the CPU, and the loop that
// repeats until there is enough to tell.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "base/parallel.hpp"
#include "job/bench.hpp"
#include "job/host_plan.hpp"

namespace dmlop {

using Bytes = std::vector<std::byte>;
using BenchClock = std::chrono::steady_clock;

inline double seconds_since(BenchClock::time_point start) {
  return std::chrono::duration<double>(BenchClock::now() - start).count();
}

/// So many zero bytes. Errors: run_failed without memory for them.
Bytes bench_bytes(std::uint64_t count);

/// Runs a plan on the CPU again and again, all of it in memory.
class PlanInMemory {
 public:
  /// The plan and the inputs, by slot, must outlive it.
  PlanInMemory(const Plan& plan, SlotBytes inputs, unsigned threads);
  void run();
  const Bytes& output(std::size_t slot) const { return outputs_[slot]; }

 private:
  HostPlan plan_;
  SlotBytes inputs_;
  unsigned threads_;
  KeptThreads kept_threads_;
  std::vector<Bytes> outputs_;  // by slot
  std::vector<std::span<std::byte>> memory_;
};

/// Warms up, then runs until both minima of the options are met; sorted seconds.
template <typename Run>
std::vector<double> measure(const BenchOptions& options, double warm_up_seconds, Run&& run) {
  const auto warm_up = BenchClock::now();
  do {
    run();
  } while (seconds_since(warm_up) < warm_up_seconds);
  std::vector<double> seconds;
  const auto start = BenchClock::now();
  while (seconds.size() < options.min_runs || seconds_since(start) < options.min_seconds) {
    check_for_stop();
    seconds.push_back(run());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

}  // namespace dmlop
