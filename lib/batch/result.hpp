// How a job of a batch ended.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop {

enum class Status : std::uint8_t {
  passed,       // ran, and equals its golden files where it has any
  failed,       // ran and differs
  mistrusted,   // ran, but what was compared proves nothing
  unsupported,  // valid, but not available here
  invalid,      // the job, its description or a .npy file is wrong
  error,        // a file could not be read or written, or the run failed
  skipped,      // the job says so
  not_run,      // the batch stopped before
};

inline constexpr std::array<std::string_view, 8> status_names{
    "PASSED", "FAILED", "MISTRUSTED", "UNSUPPORTED", "INVALID", "ERROR", "SKIPPED", "NOT_RUN"};

inline constexpr std::string_view name_of(Status status) {
  return status_names[static_cast<std::size_t>(status)];
}

/// The status of a name such as "PASSED"; nothing for other names.
std::optional<Status> status_named(std::string_view name);

/// Whether the batch goes well with it.
inline constexpr bool is_good(Status status) {
  return status == Status::passed || status == Status::skipped;
}

/// Whether a job that ends as `status` may have this exit code.
bool may_end_with(Status status, int exit_code);

/// What a batch keeps of a job that ended.
struct BatchResult {
  std::string id;
  Status status = Status::not_run;
  int exit_code = 0;          // what a run of this job alone would end with
  std::string operator_name;  // "PADDING"; "" where it could not be made out
  std::string place;          // "jobs.jsonl:12"
  double seconds = 0;
  std::string message;   // why it is not PASSED, on one line
  std::string details;   // the same at length: findings, comparisons; several lines
  std::string repeat;    // a command that repeats this job alone
  std::string record;    // one line of JSON with everything, where records are kept
  std::string pictures;  // JSON: an array of pictures or null, for each comparison
  bool resumed = false;  // taken from an earlier run
  std::string warnings = {};  // of files beside the job that nothing uses; several lines
};

/// Whether a job's one result is worse news than its other: by their exit codes, then by status.
/// NOT_RUN is the least of all.
bool is_worse(const BatchResult& a, const BatchResult& b);

using StatusCounts = std::array<std::uint64_t, status_names.size()>;

/// What a batch came to.
struct BatchSummary {
  StatusCounts counts{};
  int exit_code = 0;  // the worst of the jobs'
  double seconds = 0;
  std::uint64_t resumed = 0;
  std::string shard;  // "0/4"; "" for all jobs
  std::string device;
  std::string interrupted;           // why it is not complete; "" where it is
  std::vector<BatchResult> slowest;  // at most 5, without records

  std::uint64_t jobs() const;
  void add(const BatchResult& result);
};

/// The worse of two exit codes: failures of the machine, then invalid input, then what is not
/// available, then differences.
int worse_exit_code(int a, int b);

/// "8 PASSED, 1 FAILED".
std::string counts_text(const StatusCounts& counts);

}  // namespace dmlop
