// The CPU backend: executes a part of a plan on the calling thread, or all of it on several.
// Writing files is the job's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "cpu/output.hpp"
#include "cpu/parts.hpp"
#include "ops/plan.hpp"

namespace dmlop::cpu {

/// Input buffers in the order of the plan's inputs, in native byte order; any alignment.
using Inputs = std::span<const std::span<const std::byte>>;

/// Computes output elements [begin, end) of the plan, in row-major order, into `output`, which
/// holds just these. The inputs must hold all that the plan reads.
void execute(const Plan& plan, Inputs inputs, std::uint64_t begin, std::uint64_t end,
             std::byte* output);

/// Computes a part of the output (cpu/parts.hpp): range i of it into output + i * pitch. Streaming
/// is for outputs that no cache can hold and that nothing reads soon.
void execute_part(const Plan& plan, Inputs inputs, const Part& part, Stores stores,
                  std::byte* output, std::uint64_t pitch);

/// Computes the whole output into memory, spread over `threads`. Errors: interrupted.
void execute_all(const Plan& plan, Inputs inputs, unsigned threads, std::byte* output);

void execute_index_map(const IndexMapPlan& plan, Inputs inputs, std::uint64_t begin,
                       std::uint64_t end, Output& output);
void execute_lp_pooling(const LpPoolingPlan& plan, Inputs inputs, std::uint64_t begin,
                        std::uint64_t end, Output& output);

}  // namespace dmlop::cpu
