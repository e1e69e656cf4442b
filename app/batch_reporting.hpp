// What dmlop batch prints about its jobs, and the records and reports that it writes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/exit_codes.hpp"
#include "batch/batch.hpp"
#include "batch/results_file.hpp"
#include "batch_options.hpp"
#include "progress.hpp"

namespace dmlop::app {

/// Shows people each job, and keeps what reports need later.
class BatchPresenter {
 public:
  /// `total` is the number of jobs, if it is known. The options must outlive the presenter.
  BatchPresenter(const BatchCommandOptions& options, std::optional<std::uint64_t> total);

  void show(const BatchResult& result);
  void summarize(const BatchSummary& summary);

  std::vector<BatchResult> results;

 private:
  void print_result(const BatchResult& result) const;
  void print_warnings(const BatchResult& result);
  bool is_one_of_many(const std::string& kind);
  void print_more_of_kinds() const;
  void print_golden_counts(const BatchSummary& summary) const;

  const BatchCommandOptions& options_;
  bool color_;
  Progress progress_;
  std::map<std::string, std::uint64_t> kinds_;  // of jobs and of warnings: how many there were
};

/// Writes records as they come. The first failure to write one is reported at once; the batch
/// continues.
class RecordKeeper {
 public:
  /// Opens --results if it is given. Errors: io_failed, usage.
  explicit RecordKeeper(const BatchCommandOptions& options);

  /// Call this before the first job. Without this line, a run that is killed at once would seem to
  /// have an earlier run's summary. Errors: io_failed.
  void start(const std::string& version, const std::string& program);

  /// Writes a job's record, or the summary.
  template <typename Record>
  void add(const Record& record);

  int exit_code = exit_done;

 private:
  std::optional<ResultsFile> file_;
};

/// Writes every report, with the results in the order of comes_before(); one that fails does not
/// stop the others. JSON has the findings, too. Returns the exit code for them.
int write_reports(const BatchCommandOptions& options, const BatchSummary& summary,
                  std::vector<BatchResult>& results, const Diagnostics& findings = {});

}  // namespace dmlop::app
