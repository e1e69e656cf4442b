// A job of a batch that was read and checked, of whichever kind: a description, a model or graph,
// or an ONNX test. Each kind answers the same questions.
#pragma once

#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "batch/batch.hpp"
#include "batch/digest.hpp"

namespace dmlop {

class CheckedJob {
 public:
  virtual ~CheckedJob() = default;

  /// "PADDING", or several names.
  virtual std::string operator_name() const = 0;
  /// The files that the run writes.
  virtual std::vector<NamedFile> outputs() const = 0;
  /// Whether it may write one of them several times.
  virtual bool may_write_again() const { return false; }
  /// The golden files that the run is compared with.
  virtual std::vector<NamedFile> golden_files() const = 0;
  /// Why a run would show nothing; "" if an output is kept or compared.
  virtual std::string reason_of_uncompared() const = 0;

  /// Adds everything that the result depends on: what was read, the files and the tolerance.
  virtual void add_to(Digest& digest, const Checking& checking) = 0;
  /// The digests of inputs by their names, after add_to().
  virtual std::vector<std::pair<std::string, std::string>> input_digests() const { return {}; }

  /// Runs it and compares with the golden files or with what options.against computes. If it
  /// `updates`, what update_golden() needs is kept. Errors: io_failed, run_failed, interrupted.
  virtual JobResult run(Backend& backend, const BatchOptions& options, bool updates) = 0;
  /// Pictures of what differs in `result`, as BatchResult has them. `pictures` counts those of the
  /// batch.
  virtual std::string pictures_of(const JobResult&, Backend&, const BatchOptions&,
                                  std::atomic<unsigned>& /*pictures*/) const {
    return "";
  }
  /// Writes the golden files that are missing, or that the run which gave `result` does not match.
  /// Errors: io_failed.
  virtual void update_golden(JobResult& result) = 0;

 protected:
  /// The reason of reason_of_uncompared() where files of `output` would do.
  static std::string reason_without(const std::string& output) {
    return "no output is kept or compared: add golden files (\"expect\" of a job in a list; " +
           output + ".npy in the folder expected/ of a job's folder), which --update-golden " +
           "writes, or use --out";
  }
};

}  // namespace dmlop
