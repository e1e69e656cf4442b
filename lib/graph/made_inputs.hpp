// Inputs of a graph that no file gives, made up for measurements.
#pragma once

#include "graph/lower.hpp"

namespace dmlop {

/// Fills each input that has no values with random numbers that suit the first node which reads it
/// (job/bench_inputs.hpp). Errors: run_failed without memory for them.
void make_up_inputs(LoweredGraph& graph, unsigned threads);

}  // namespace dmlop
