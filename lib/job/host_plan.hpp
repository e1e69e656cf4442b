// Runs a plan on the CPU: its passes in order, temporaries in memory, outputs to memory or to a
// sink as they come.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "base/threshold.hpp"
#include "cpu/constant_inputs.hpp"
#include "job/backend.hpp"

namespace dmlop {

/// A thread computes so much of an output at a time: large enough for system calls not to matter,
/// small enough to still be in the cache when it is written.
inline constexpr Threshold host_part_bytes{std::uint64_t{1} << 20, 40};

/// `inputs` has the bytes of each input slot. A temporary lives from the pass that writes it to the
/// last that reads it. Errors: run_failed without memory, interrupted, and what the sink throws.
void run_on_host(const Plan& plan, SlotBytes inputs, unsigned threads, const OutputSink& sink,
                 std::uint64_t part_bytes = host_part_bytes);

/// A plan that runs again and again. Several threads may run it.
class HostPlan {
 public:
  /// `are_constant` says of each slot whether it is an input that holds the same in each run;
  /// empty: none does. The plan must outlive this.
  explicit HostPlan(const Plan& plan, const std::vector<bool>& are_constant = {});
  HostPlan(const HostPlan&) = delete;
  HostPlan& operator=(const HostPlan&) = delete;

  /// The same, but the kernels write the outputs where they belong. Errors: the same, without a
  /// sink.
  void run_into(SlotBytes inputs, SlotMemory outputs, unsigned threads,
                std::uint64_t part_bytes = host_part_bytes);

 private:
  std::optional<Plan> other_;  // by kernels that the CPU has, if the given one has others
  const Plan& plan_;
  std::deque<cpu::ConstantInputs> constants_;  // of each pass; empty: none are known
};

}  // namespace dmlop
