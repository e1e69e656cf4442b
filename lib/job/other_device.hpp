// A run that is compared with the same job on another device instead of with golden files.
#pragma once

#include <optional>
#include <vector>

#include "job/job.hpp"

namespace dmlop {

/// Executes the job on a device and makes what comes out the expectation of every output. Returns
/// the outputs, which must outlive runs of the job. A tolerance without a criterion is that of the
/// operator. Errors: as run_job.
std::vector<OutputInMemory> expect_other_device(Job& job, Backend& other,
                                                const ExecutionOptions& options,
                                                const std::optional<Tolerance>& tolerance);

}  // namespace dmlop
