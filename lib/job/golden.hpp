// Golden files that follow the outputs: --update-golden of dmlop run and dmlop batch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "job/job.hpp"

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

/// Writes the golden files of a job that are missing or that its outputs do not match. Each
/// comparison of `result` says what became of its golden file; there is one for each that was
/// missing, too. Errors: as run_job().
void update_golden(const Job& job, Backend& backend, const ExecutionOptions& options,
                   JobResult& result);

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
