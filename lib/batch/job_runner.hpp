// One job of a batch, from its manifest to its result.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "batch/batch.hpp"
#include "batch/digest_table.hpp"

namespace dmlop {

/// The files that jobs of a batch write. Several threads may use it.
class OutputPaths {
 public:
  /// False where another job has claimed the file, under whatever path.
  bool claim(const std::string& path);

 private:
  std::mutex mutex_;
  DigestTable claimed_;
};

class JobRunner {
 public:
  /// Both must outlive this.
  JobRunner(Backend& backend, const BatchOptions& options);

  /// Runs one job; every failure is its result. Several threads may call it.
  BatchResult run(BatchJob job);
  /// The result of a job that is not run, for `reason`.
  BatchResult not_run(const BatchJob& job, const std::string& reason) const;

  /// Whether the device was lost, after which nothing can be run.
  bool device_lost() const { return device_lost_; }

 private:
  Backend& backend_;
  const BatchOptions& options_;
  std::atomic<bool> device_lost_{false};
  std::atomic<unsigned> pictures_{0};
  OutputPaths outputs_;
};

}  // namespace dmlop
