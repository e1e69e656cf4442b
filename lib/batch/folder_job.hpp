// A job of a batch that is a file: an op.json or model.json, with what lies beside it.
#pragma once

#include <string>

#include "batch/manifest.hpp"

namespace dmlop {

/// Completes the job whose description is the file `path` by what its folder has for it: .npy files
/// and tol.json (job/folder.hpp), and job.json with tags, skip and xfail.
void read_folder_job(BatchJob& job, const std::string& path, const SharedConfinement& confinement);

/// Why job.json beside the description `path` expects the job to fail; "" where it does not. Adds
/// what is wrong with the file.
std::string expected_failure_beside(const std::string& path, const SharedConfinement& confinement,
                                    Diagnostics& diagnostics);

}  // namespace dmlop
