// Golden files that follow the outputs: --update-golden of dmlop run and dmlop batch.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/job.hpp"
#include "job/output_of_job.hpp"

namespace dmlop {

/// The folder of a golden file that is to be written: made where there is none, and gone again
/// where it stays empty. Errors: io_failed.
class GoldenFolder {
 public:
  explicit GoldenFolder(const std::string& golden_file);
  GoldenFolder(const GoldenFolder&) = delete;
  GoldenFolder& operator=(const GoldenFolder&) = delete;
  ~GoldenFolder();

 private:
  std::string folder_;
  bool is_new_ = false;
};

/// What there is to say about an output whose golden file is to be created.
OutputComparison new_golden(const std::string& output, const std::string& path, DataType type,
                            const Sizes& sizes, const Tolerance& tolerance);

/// Whether the golden files of a job may follow its outputs: where one comparison proves nothing,
/// none may, and those that differ are marked as refused.
bool may_update(std::vector<OutputComparison>& comparisons);

/// An output that may become its golden file.
class NewGoldenFile {
 public:
  /// The expectation must outlive it. Where the output may match the golden file that is there, a
  /// new one may not be needed: finished() says what kept it from being made. Errors: io_failed.
  NewGoldenFile(const PlannedOutput& output, const Expectation& expectation, bool may_match);
  /// Part of the output's elements; may be called from several threads at once. Errors: io_failed.
  void write_at(std::uint64_t offset, std::span<const std::byte> part);
  const Expectation& expectation() const { return expectation_; }
  /// Not where it has no number and the tolerance does not allow that, or has NaN that equals
  /// nothing.
  bool may_be_golden() const { return proves_something_ && matches_itself_; }
  /// The file with all that belongs into it, to be committed. Errors: io_failed.
  OutputFile& finished();

 private:
  const Expectation& expectation_;
  DataType type_;
  std::atomic<bool> proves_something_;
  std::atomic<bool> matches_itself_{true};
  std::optional<GoldenFolder> folder_;  // gone after the file
  std::optional<OutputOfJob> file_;
  std::exception_ptr failure_;
};

/// The outputs of a run that may become golden files. Each is written beside its golden file while
/// it is computed, and gone again unless update() needs it.
class NewGoldenFiles {
 public:
  /// For an output of the run (run_job()), which may match the golden file that is there or not.
  /// Errors: io_failed.
  NewGoldenFile& begin(const PlannedOutput& output, const Expectation& expectation, bool may_match);
  /// Replaces the golden files that are missing or that the outputs do not match, all or none. Each
  /// comparison of `result` says what became of its golden file; there is one for each that was
  /// missing, too. Errors: io_failed.
  void update(const Job& job, JobResult& result);

 private:
  std::deque<NewGoldenFile> files_;
};

/// Whether one of the elements is a number: what is NaN all over proves nothing.
bool has_number(DataType type, std::span<const std::byte> elements);

/// Whether one of the elements is NaN and the tolerance lets NaN equal nothing: no golden file
/// would match these elements, not even their own.
bool equals_nothing(DataType type, std::span<const std::byte> elements, const Tolerance& tolerance);

/// "none", "created", "replaced", "refused".
std::string_view name_of(GoldenUpdate update);

/// "PASSED", "FAILED", "MISTRUSTED", or "UPDATED" where the golden file was written.
std::string_view word_of(const OutputComparison& output);

/// What was found, and what became of the golden file, on one line without the output's name.
std::string summary_of(const OutputComparison& output);

/// Where a difference is at its worst, where all are and how the elements are related, and what
/// tolerance would do: a few lines, no table.
std::string brief_of(const OutputComparison& output);

}  // namespace dmlop
