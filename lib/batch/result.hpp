// How a job of a batch ended.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/exit_codes.hpp"

namespace dmlop {

/// The order is that of counts and of the table of statuses.
enum class Status : std::uint8_t {
  passed,
  updated,
  xfail,
  failed,
  xpass,
  mistrusted,
  uncompared,
  unsupported,
  invalid,
  error,
  skipped,
  not_run,
};

/// What a job's end means to whoever waits for the batch; JUnit has an element for each.
enum class Outcome : std::uint8_t { passed, skipped, failure, error };

/// One way in which a job of some status may end.
struct StatusEnding {
  ExitCode exit_code;  // what a run of this job alone would end with
  Outcome outcome;
};

/// The endings of a status that has but one.
constexpr std::array<StatusEnding, 2> always(ExitCode exit_code, Outcome outcome) {
  return {{{exit_code, outcome}, {exit_code, outcome}}};
}

struct StatusInfo {
  std::string_view name;
  std::string_view when;  // a job ends so
  std::array<StatusEnding, 2> ends;
  int severity;  // among statuses of one exit code; 0: no news at all
};

/// The statuses, in one place: what else knows a status asks here.
inline constexpr std::array<StatusInfo, 12> statuses{{
    {"PASSED", "it ran and equals its golden files", always(exit_done, Outcome::passed), 1},
    {"UPDATED",
     "its golden files were written (--update-golden)",
     {{{exit_done, Outcome::passed}, {exit_different, Outcome::failure}}},
     4},
    {"XFAIL", "it differs, as its xfail says", always(exit_done, Outcome::skipped), 3},
    {"FAILED", "it ran and differs", always(exit_different, Outcome::failure), 5},
    {"XPASS", "it passed, although its xfail says that it differs",
     always(exit_different, Outcome::failure), 3},
    {"MISTRUSTED", "it passed, but the comparison proves nothing",
     always(exit_different, Outcome::failure), 2},
    {"UNCOMPARED", "it has no golden file, and no output of it is kept",
     always(exit_different, Outcome::failure), 1},
    {"UNSUPPORTED", "it is valid, but not available here", always(exit_unavailable, Outcome::error),
     3},
    {"INVALID", "the job, its description or a .npy file is wrong",
     always(exit_invalid, Outcome::error), 3},
    {"ERROR",
     "the run failed, or a file could not be read or written",
     {{{exit_run_failed, Outcome::error}, {exit_io_failed, Outcome::error}}},
     3},
    {"SKIPPED", "its skip says so", always(exit_done, Outcome::skipped), 2},
    {"NOT_RUN", "the batch stopped before", always(exit_done, Outcome::error), 0},
}};

inline constexpr const StatusInfo& info(Status status) {
  return statuses[static_cast<std::size_t>(status)];
}
inline constexpr std::string_view name_of(Status status) {
  return info(status).name;
}

/// The status with a name such as "PASSED"; nothing for other names.
std::optional<Status> status_named(std::string_view name);

/// The outcome of a job that ends as `status` with this exit code; nothing where none can.
std::optional<Outcome> outcome_of(Status status, int exit_code);

/// Where something stands that a report may point at.
struct Location {
  std::string file;  // "": nowhere
  std::uint32_t line = 1;
  std::uint32_t column = 1;
};

/// What a batch keeps about a job that ended.
struct BatchResult {
  std::string id;
  Status status = Status::not_run;
  int exit_code = exit_done;  // one of the status's
  std::string operator_name;  // "PADDING"; "" where it could not be made out
  std::string place;          // "jobs.jsonl:12"
  double seconds = 0;
  std::string message;               // why it is not PASSED, on one line
  std::string brief;                 // more about it in a few lines, without tables
  std::string details;               // the same at length: findings, comparisons; several lines
  Location wrong;                    // where the first finding points, where there is one
  std::uint64_t golden_created = 0;  // golden files that the job wrote
  std::uint64_t golden_replaced = 0;
  std::string repeat;    // a command that repeats this job alone
  std::string record;    // one line of JSON with everything, where records are kept
  std::string pictures;  // JSON: an array of pictures or null, for each comparison
  bool resumed = false;  // taken from an earlier run
  std::vector<std::string> warnings = {};  // each a text of several lines
  std::string notice = {};  // why another device ran it, if no job of this run had the same reason

  Outcome outcome() const;
  /// Whether the status counts as a success of the batch.
  bool is_good() const;
  /// Where the job stands, of which `place` is the text. Line 1 where that names only a file.
  Location location() const;
};

/// Whether reports have `a` before `b`: by the places of jobs, so that the order in which jobs end
/// changes nothing.
bool comes_before(const BatchResult& a, const BatchResult& b);

/// Whether a job's first result is worse than its second: by exit code, then by status. NOT_RUN is
/// the least bad.
bool is_worse(const BatchResult& a, const BatchResult& b);

using StatusCounts = std::array<std::uint64_t, statuses.size()>;

/// The jobs that all shards of a batch have together.
struct SelectedJobs {
  std::uint64_t count = 0;
  std::uint64_t ids = 0;  // the sum of their digests, which is the same in any order

  void add(std::uint64_t digest) {
    ++count;
    ids += digest;
  }
  bool operator==(const SelectedJobs&) const = default;
};

/// The result of a batch.
struct BatchSummary {
  StatusCounts counts{};
  int exit_code = exit_done;  // the worst of the jobs'
  double seconds = 0;
  SelectedJobs selected = {};  // of all shards
  std::uint64_t golden_created = 0;
  std::uint64_t golden_replaced = 0;
  std::uint64_t resumed = 0;
  std::uint64_t warnings = 0;
  std::string shard;  // "0/4"; "" for all jobs
  std::string device;
  std::string interrupted;           // why it is not complete; "" where it is
  std::vector<BatchResult> slowest;  // at most 5, without records

  std::uint64_t jobs() const;
  /// Those that this run ran: none that were skipped, not reached or taken from an earlier run.
  std::uint64_t ran() const;
  void add(const BatchResult& result);
};

/// The exit codes of jobs, from good to bad: different, not available, invalid input, failures of
/// the machine.
inline constexpr std::array<int, 7> worst_last{exit_done,      exit_different, exit_unavailable,
                                               exit_invalid,   exit_usage,     exit_io_failed,
                                               exit_run_failed};

/// The one of two exit codes that stands later in `worst_last`.
int worse_exit_code(int a, int b);

/// "8 PASSED, 1 FAILED".
std::string counts_text(const StatusCounts& counts);
/// ", 3 warnings"; "" if there are none.
std::string warnings_text(const BatchSummary& summary);

}  // namespace dmlop
