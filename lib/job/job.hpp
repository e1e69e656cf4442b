// A job: one OP.json with its files, from text to written .npy. Everything up to the plan is pure
// but for reading the description and the .npy headers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "job/backend.hpp"
#include "npy/npy.hpp"
#include "ops/plan.hpp"
#include "spec/description.hpp"

namespace dmlop {

/// "InputTensor=x.npy" of a command line; the name may be left out where one tensor can be meant.
struct NamedFile {
  std::string tensor;
  std::string path;  // "-" is standard input or output
};

struct JobRequest {
  std::string description_path;  // "-" is standard input
  std::vector<NamedFile> inputs;
  std::vector<NamedFile> outputs;
  std::optional<FeatureLevel> feature_level;  // wins over the description's
};

struct BoundInput {
  std::string tensor;
  NpyFile file;
};

struct BoundOutput {
  std::string tensor;
  std::string path;
};

/// A request whose description is complete and checked.
struct Job {
  Description description;
  std::vector<BoundInput> inputs;    // those that have a file, in the operator's order
  std::vector<BoundOutput> outputs;  // likewise
};

enum class Purpose { check, run };  // a run needs a file for every tensor

/// Reads and checks a request; adds every finding. Returns a job only when there is none.
std::optional<Job> prepare_job(const JobRequest& request, Purpose purpose,
                               Diagnostics& diagnostics);

/// Executes the job and writes its outputs, all or none.
/// Errors: io_failed, run_failed, interrupted.
gpu::DispatchTimes run_job(const Job& job, Backend& backend, const ExecutionOptions& options);

}  // namespace dmlop
