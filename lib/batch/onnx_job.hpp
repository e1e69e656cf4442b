// A job of a batch that is an ONNX test: model.onnx with its data sets beside it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batch/checked_job.hpp"
#include "onnx/test_folder.hpp"

namespace dmlop {

class OnnxJob : public CheckedJob {
 public:
  /// Reads the model and maps it for each data set. Adds all warnings and all findings, and returns
  /// nothing if there are findings.
  static std::optional<OnnxJob> prepare(const BatchJob& job, const BatchOptions& options,
                                        Diagnostics& findings, Diagnostics& warnings);

  /// "GEMM, ACTIVATION_RELU".
  std::string operator_name() const override { return operator_name_; }
  std::vector<NamedFile> outputs() const override { return {}; }
  std::vector<NamedFile> golden_files() const override;
  std::string reason_of_uncompared() const override { return ""; }
  void add_to(Digest& digest, const Checking& checking) override;
  JobResult run(Backend& backend, const BatchOptions& options, bool updates) override;
  void update_golden(JobResult&) override {}  // prepare() refuses that

 private:
  std::vector<onnx::DataSet> sets_;
  std::vector<std::string> files_;
  std::string operator_name_;
  Tolerance tolerance_;
};

}  // namespace dmlop
