// Runs the jobs of a batch in one process, several at a time, on one device that is opened once.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "batch/manifest.hpp"
#include "batch/result.hpp"
#include "batch/selection.hpp"
#include "job/backend.hpp"

namespace dmlop {

/// The records of an earlier run by id.
using EarlierRecords = std::unordered_map<std::string, std::string>;

/// Whether golden files that are missing or different are written, and what that is called: a
/// failure until someone has looked at them, or accepted.
enum class UpdateGolden : std::uint8_t { no, write, accept };

struct BatchOptions {
  unsigned workers = 1;  // jobs that run side by side
  ExecutionOptions execution;
  Selection selection;
  Checking checking;                      // a job with warnings that are errors is INVALID
  std::optional<double> timeout_seconds;  // for each job
  std::optional<Tolerance> tolerance;     // wins over the jobs'
  UpdateGolden update_golden = UpdateGolden::no;
  Backend* against = nullptr;      // computes the same instead of golden files; null: golden files
  bool ignores_xfail = false;      // jobs run as if they had none
  std::uint64_t max_failures = 0;  // the batch stops after so many; 0: never
  std::string output_folder;       // outputs go to FOLDER/ID/TENSOR.npy; "": as jobs say
  std::vector<std::string> reports;  // files that the caller writes, and no job may; "": none
  std::string version;               // of the program, for people
  std::string program;               // its digest: a record of another program proves nothing
  std::string repeat_command;        // "dmlop batch jobs.json --cpu"; what repeats is added
  bool keep_records = false;
  bool keep_pictures = false;
  EarlierRecords earlier;  // to resume from
};

/// Runs all selected jobs. `finished` receives each result, one at a time, in the order in which
/// jobs end. Jobs that the batch does not reach are NOT_RUN. Errors: io_failed if the manifest
/// cannot be read further.
BatchSummary run_batch(Manifest& manifest, Backend& backend, const BatchOptions& options,
                       const std::function<void(const BatchResult&)>& finished);

}  // namespace dmlop
