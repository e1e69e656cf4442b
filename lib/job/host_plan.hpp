// Runs a plan on the CPU: its passes in order, temporaries in memory, outputs to a sink as they
// come.
#pragma once

#include "job/backend.hpp"

namespace dmlop {

/// `inputs` has the bytes of each input slot. A temporary lives from the pass that writes it to the
/// last that reads it. Errors: run_failed without memory, interrupted, and what the sink throws.
void run_on_host(const Plan& plan, SlotBytes inputs, unsigned threads, const OutputSink& sink);

}  // namespace dmlop
