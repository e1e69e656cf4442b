// Results files are JSON Lines: a record for each job as it ends, and a summary at the end of a
// run. A run that continues a file first writes a line that says so. A run that is killed leaves
// the records of all jobs that ended; its last line shows that it is not complete.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/system_file.hpp"
#include "batch/batch.hpp"
#include "batch/result.hpp"

namespace dmlop {

/// A results file that grows line by line. Each line is one write to its end, so that lines of
/// several processes never mix. Still, the file belongs to one process at a time, because another
/// one would cut it off. A lock ensures this; it ends with the process, even if that is killed. If
/// the file system has no locks, the caller must ensure it. "-" is standard output; pipes are not
/// locked.
class ResultsFile {
 public:
  /// Creates the file, empties a file of earlier results, or opens it to continue after its last
  /// complete line. Errors: io_failed, also if another process writes the file; usage if emptying
  /// it would lose something else.
  ResultsFile(const std::string& path, bool append);
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  /// In a file with lines of earlier runs, records which program begins a run,
  /// so that the last summary no longer counts. Errors: as add().
  void start(const std::string& version, const std::string& program);
  /// Errors: io_failed. The part of the line that was written is removed again.
  void add(const std::string& record);
  /// Adds the last line and closes the file. Errors: io_failed.
  void add(const BatchSummary& summary);

 private:
  void cut_off_part_of_line();

  std::string path_;
  SystemFile file_;
  std::uint64_t bytes_ = 0;  // up to the end of the last complete line
  bool is_regular_ = false;
  bool may_end_in_part_of_line_ = false;
};

/// The contents of a results file: the last record of each job, in the order of the first ones.
struct RecordedResults {
  std::vector<BatchResult> results;
  bool complete = false;                 // the last run reached its end
  int exit_code = 0;                     // of the last run, if complete
  std::string shard;                     // "0/4"
  std::optional<SelectedJobs> selected;  // of all shards; an older version did not write it
  std::string device;
};

/// Reads a results file. An incomplete last line is ignored. Errors: io_failed; invalid_input if a
/// line is not a record.
RecordedResults read_results(const std::string& path);

/// What counts if files disagree about a job: the worst outcome, or the last file.
enum class Disagreement { worst_counts, latest_counts };

/// Combines the results of several runs. If two files disagree about a job and the worst counts,
/// the result has a warning. Adds a finding for every file whose run did not end and for every
/// shard that is missing; the summary is then not complete, and its exit code is at least 5.
std::vector<BatchResult> merge_results(const std::vector<std::string>& paths, Disagreement rule,
                                       BatchSummary& summary, Diagnostics& diagnostics);

}  // namespace dmlop
