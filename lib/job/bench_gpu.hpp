// Measures an operator's plan on a GPU, beside the copy rate of the same device.
#pragma once

#include "job/bench.hpp"

namespace dmlop {

/// Runs the plan once, compares it with the CPU, and measures it on data that stays on the device.
/// The result's sums of bytes are given. Errors: as bench().
void bench_gpu(const OperatorSpec& spec, const Plan& plan, SlotBytes inputs, Backend& backend,
               const BenchOptions& options, BenchResult& result);

}  // namespace dmlop
