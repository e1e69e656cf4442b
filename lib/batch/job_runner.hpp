// Runs one job of a batch, from its manifest to its result.
#pragma once

#include <atomic>
#include <mutex>
#include <set>
#include <string>

#include "batch/batch.hpp"
#include "batch/job_files.hpp"
#include "batch/output_paths.hpp"

namespace dmlop {

class JobRunner {
 public:
  /// The arguments must outlive this.
  JobRunner(Backend& backend, const BatchOptions& options);

  /// Runs one job. Every failure becomes its result. Several threads may call this.
  BatchResult run(BatchJob job);
  /// The result of a job that is not run, for `reason`.
  BatchResult not_run(const BatchJob& job, const std::string& reason) const;

  /// The files that the jobs read, for whoever reads the jobs: none is replaced for another one.
  JobFiles& job_files() { return files_; }

  /// Whether the device was lost, so that nothing can run any more.
  bool device_lost() const { return device_lost_; }

 private:
  /// Whether there is a notice, and no job had it before.
  bool is_new(const std::string& notice);

  Backend& backend_;
  const BatchOptions& options_;
  std::mutex notices_mutex_;
  std::set<std::string> notices_;
  std::atomic<bool> device_lost_{false};
  std::atomic<unsigned> pictures_{0};
  OutputPaths outputs_;
  JobFiles files_;
};

}  // namespace dmlop
