// Which files the jobs of a batch name, so that no golden file is replaced that is another job's.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "batch/digest_table.hpp"
#include "batch/manifest.hpp"

namespace dmlop {

/// The files that jobs name: inputs, golden files and those of `bindings`, each by its
/// written_path(). Several threads may use this.
class JobFiles {
 public:
  /// Adds the files that a job names. What cannot be read names none: its job reports that itself.
  void add(const BatchJob& job);
  /// Whether another job than this one names the file.
  bool is_of_another(const std::string& path, const BatchJob& job);

 private:
  void add(const std::string& path, std::uint32_t number);

  std::mutex mutex_;
  DigestTable first_;   // with the number of the first job that names it
  DigestTable shared_;  // those that several jobs name
};

}  // namespace dmlop
