// Results files: JSON Lines, a record for each job as it ends and a summary at the end of a run; a
// run that goes on with a file says so before. A run that is killed leaves the records of all jobs
// that ended, and is seen to be not complete by the line that is last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/system_file.hpp"
#include "batch/batch.hpp"
#include "batch/result.hpp"

namespace dmlop {

/// A results file that grows line by line, each with one write to its end: lines of several
/// processes never mix. Yet it belongs to one process at a time, as the next one would cut it off
/// below the first: a lock says so, which ends with the process, killed or not. Where the file
/// system has no locks, the file is the caller's to guard. "-" is standard output; pipes are not
/// locked.
class ResultsFile {
 public:
  /// Creates the file, or empties one of earlier results, or opens it to go on behind its last
  /// whole line. Errors: io_failed, also when another process writes the file; usage where emptying
  /// it would lose something else.
  ResultsFile(const std::string& path, bool append);
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  /// Says in a file with lines of earlier runs that one begins again, of this version of the
  /// program: what the last summary says is no longer true. Errors: as add().
  void start(const std::string& version);
  /// Errors: io_failed; what was written of the line is cut off again.
  void add(const std::string& record);
  /// The last line; the file is closed. Errors: io_failed.
  void add(const BatchSummary& summary);

 private:
  void cut_off_part_of_line();

  std::string path_;
  SystemFile file_;
  std::uint64_t bytes_ = 0;  // up to the end of the last whole line
  bool is_regular_ = false;
  bool may_end_in_part_of_line_ = false;
};

/// What a results file holds: the last record of each job, in the order of the first ones.
struct RecordedResults {
  std::vector<BatchResult> results;
  bool complete = false;  // the last run came to its end
  int exit_code = 0;      // with which it did
  std::string shard;      // "0/4"
  std::string device;
};

/// Reads a results file. A last line that is cut off is left out. Errors: io_failed; invalid_input
/// when a line is no record.
RecordedResults read_results(const std::string& path);

/// What counts where files disagree about a job: whatever ended worst, or the file that is last.
enum class Disagreement { worst_counts, latest_counts };

/// Results of several runs as one, with a warning for each time that two files disagree about a job
/// and the worst counts. Adds a finding for every file whose run did not end and every shard that
/// is missing; the summary is then not complete, and its exit code at least 5.
std::vector<BatchResult> merge_results(const std::vector<std::string>& paths, Disagreement rule,
                                       BatchSummary& summary, Diagnostics& diagnostics,
                                       Diagnostics& warnings);

}  // namespace dmlop
