// What the comparisons of a job that ran come to.
#pragma once

#include <string>
#include <vector>

#include "batch/batch.hpp"
#include "job/job.hpp"

namespace dmlop {

/// Sets status, exit code, message, brief and details of `result`, and counts its golden files.
/// `xfail` is why the job is to differ; "" where it is not.
void conclude(const std::vector<OutputComparison>& comparisons, const std::string& xfail,
              UpdateGolden update, BatchResult& result);

}  // namespace dmlop
