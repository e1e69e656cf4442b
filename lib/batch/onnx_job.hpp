// A job of a batch that is an ONNX test: model.onnx with its data sets beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batch/batch.hpp"
#include "batch/digest.hpp"
#include "onnx/test_folder.hpp"

namespace dmlop {

class OnnxJob {
 public:
  /// Reads the model and maps it for each data set. Adds all warnings and all findings, and returns
  /// nothing if there are findings.
  static std::optional<OnnxJob> prepare(const BatchJob& job, const BatchOptions& options,
                                        Diagnostics& findings, Diagnostics& warnings);

  /// "GEMM, ACTIVATION_RELU".
  const std::string& operator_name() const { return operator_name_; }
  /// The outputs that the run is compared with.
  std::vector<NamedFile> golden_files() const;

  /// Adds everything that the result depends on.
  void add_to(Digest& digest) const;

  /// Runs the data sets and compares. Errors: io_failed, run_failed, interrupted.
  JobResult run(Backend& backend, const ExecutionOptions& options) const;

 private:
  std::vector<onnx::DataSet> sets_;
  std::vector<std::string> files_;
  std::string operator_name_;
  Tolerance tolerance_;
};

}  // namespace dmlop
