// Which files the jobs of a batch read, so that no job writes one that is another job's.
#pragma once

#include <cstdint>
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
  /// Adds the files that a job names. What cannot be read names none: its job reports that itself.
  void add(const BatchJob& job);
  /// Whether another job than this one reads the file. Errors: as Manifest::next(), interrupted.
  bool is_of_another(const std::string& path, const BatchJob& job);

 private:
  void read_all();
  void add(const std::string& path, std::uint32_t number);

  std::mutex reading_mutex_;
  std::unique_ptr<Manifest> unread_;  // null: all files are known, or come one by one
  std::uint32_t read_ = 0;            // jobs of it
  std::mutex mutex_;
  DigestTable first_;                        // with the number of the first job that names it
  DigestTable shared_;                       // those that several jobs name
  std::set<std::string> shared_as_written_;  // some of these; only add() uses it
};

}  // namespace dmlop
