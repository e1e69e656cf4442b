// Which of the .npy files that lie beside a folder's op.json are the operator's.
#pragma once

#include "base/diagnostic.hpp"
#include "job/job.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// Keeps those of the request's inputs that are the operator's and that the description does not
/// name itself.
void keep_inputs(JobRequest& request, const Description& description);

/// Keeps those of the request's golden files that are the operator's. One whose name has a slip
/// would be compared with nothing and the job pass: it is a finding. Strays beside a golden file do
/// no harm.
void keep_golden_files(JobRequest& request, const Description& description, Diagnostics& findings);

/// Names a golden file in `folder` for each output that has none yet and is there: required, or
/// written in the description.
void add_golden_files(JobRequest& request, const Description& description,
                      const std::string& folder);

}  // namespace dmlop
