// Results files: JSON Lines, a record for each job as it ends and a summary at the end of a run. A
// run that is killed leaves the records of all jobs that ended.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/system_file.hpp"
#include "batch/batch.hpp"
#include "batch/result.hpp"

namespace dmlop {

/// A results file that grows line by line, each with one write. "-" is standard output.
class ResultsFile {
 public:
  /// Creates the file, or opens it to go on behind its last whole line. Errors: io_failed.
  ResultsFile(const std::string& path, bool append);
  ResultsFile(const ResultsFile&) = delete;
  ResultsFile& operator=(const ResultsFile&) = delete;

  /// Errors: io_failed.
  void add(const std::string& record);
  void add(const BatchSummary& summary);

 private:
  std::string path_;
  SystemFile file_;
};

/// What a results file holds: the last record of each job, in the order of the first ones.
struct RecordedResults {
  std::vector<BatchResult> results;
  bool complete = false;  // the last run came to its end
  std::string shard;      // "0/4"
  std::string device;
};

/// Reads a results file. A last line that is cut off is left out. Errors: io_failed; invalid_input
/// when a line is no record.
RecordedResults read_results(const std::string& path);

/// Results of several runs as one, later files over earlier ones. Adds a finding for every file
/// whose run did not end and every shard that is missing; the summary's exit code is then at
/// least 5.
std::vector<BatchResult> merge_results(const std::vector<std::string>& paths, BatchSummary& summary,
                                       Diagnostics& diagnostics);

}  // namespace dmlop
