// The files beside an op.json or model.json that belong to the job which it is.
#pragma once

#include <string>

#include "batch/manifest.hpp"

namespace dmlop {

/// Completes the job whose description is the file `path` by what lies beside it: NAME.npy for
/// inputs, golden files in expected/ or as expected.npy, tol.json, and job.json with tags, skip and
/// xfail. Which of the .npy files are the operator's is found out by whoever runs it.
void read_folder_job(BatchJob& job, const std::string& path, const SharedConfinement& confinement);

}  // namespace dmlop
