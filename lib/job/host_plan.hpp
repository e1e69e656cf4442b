// Runs a plan on the CPU: its passes in order, temporaries in memory, outputs to a sink as they
// come.
#pragma once

#include "base/threshold.hpp"
#include "job/backend.hpp"

namespace dmlop {

/// A thread computes so much of an output at a time: large enough for system calls not to matter,
/// small enough to still be in the cache when it is written.
inline constexpr Threshold host_part_bytes{std::uint64_t{1} << 20, 40};

/// `inputs` has the bytes of each input slot. A temporary lives from the pass that writes it to the
/// last that reads it. Errors: run_failed without memory, interrupted, and what the sink throws.
void run_on_host(const Plan& plan, SlotBytes inputs, unsigned threads, const OutputSink& sink,
                 std::uint64_t part_bytes = host_part_bytes);

/// The same, but the kernels write the outputs where they belong. Errors: the same, without a sink.
void run_on_host_into(const Plan& plan, SlotBytes inputs, SlotMemory outputs, unsigned threads,
                      std::uint64_t part_bytes = host_part_bytes);

}  // namespace dmlop
