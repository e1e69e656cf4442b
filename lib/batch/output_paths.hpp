// Which files the jobs of a batch may write: each its own, and no report of the batch.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/confine.hpp"
#include "batch/batch.hpp"
#include "batch/checked_job.hpp"
#include "batch/digest_table.hpp"
#include "batch/job_files.hpp"

namespace dmlop {

/// The files that a batch writes, each by its written_path(). Several threads may use this.
class OutputPaths {
 public:
  explicit OutputPaths(const std::vector<std::string>& reports);

  bool is_report(const std::string& path) const { return reports_.contains(path); }
  /// Returns false if another job has claimed the file.
  bool claim(const std::string& path);

 private:
  std::set<std::string> reports_;
  std::mutex mutex_;
  DigestTable claimed_;
};

/// Adds a finding if the job is confined and a link below --out leads this path out of it.
void check_below_output_folder(const BatchJob& job, const BatchOptions& options,
                               const std::string& path,
                               PathProblem (Confinement::*problem_of)(const std::string&) const,
                               Diagnostics& findings);

/// Claims the files that the job writes, with --update-golden its golden files, too. A file that it
/// may not write is a finding. `updates` says whether it replaces its golden files.
void claim_outputs(const BatchJob& job, const CheckedJob& checked, const BatchOptions& options,
                   bool updates, OutputPaths& outputs, JobFiles& files, Diagnostics& findings);

}  // namespace dmlop
