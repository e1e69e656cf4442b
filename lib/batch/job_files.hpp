// Which files the jobs of a batch read, so that no job writes one that is another job's.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "batch/digest_table.hpp"
#include "batch/manifest.hpp"

namespace dmlop {

/// The files that jobs read, also jobs that are not selected: descriptions, inputs and golden
/// files, each by its written_path(). Several threads may use this.
class JobFiles {
 public:
  /// Whose files they are. All are read when the first one is asked for, so that a batch that
  /// writes nothing does not. False where jobs can be read once only: then add() each as it comes.
  bool are_of(const Manifest& manifest);
  /// Adds the files that a job names. A job with mistakes names none, and reports them itself.
  void add(const BatchJob& job);
  /// Whether another job than this one reads the file. Errors: as Manifest::next(), interrupted.
  bool is_of_another(const std::string& path, const BatchJob& job);
  /// Errors: io_failed if the system failed when the files of this job were looked for. They may be
  /// replaced meanwhile, so it is not to run, even if it can be read now.
  void require_known(const BatchJob& job);

 private:
  void read_all();
  void add(const std::string& path, std::uint32_t number);

  std::mutex reading_mutex_;
  std::unique_ptr<Manifest> unread_;  // null: all files are known, or come one by one
  std::exception_ptr failure_;        // why not all of them are known
  std::mutex mutex_;
  DigestTable first_;                              // with the number of the first job that names it
  DigestTable shared_;                             // those that several jobs name
  std::map<std::uint32_t, std::string> failures_;  // by the numbers of jobs
  std::set<std::string> shared_as_written_;        // some of these; only add() uses it
};

}  // namespace dmlop
