#include "batch/onnx_job.hpp"

#include "base/path.hpp"
#include "base/text.hpp"
#include "batch/record_json.hpp"

namespace dmlop {
std::optional<OnnxJob> OnnxJob::prepare(const BatchJob& job, const BatchOptions& options,
                                        Diagnostics& findings, Diagnostics& warnings) {
  const std::string& path = job.request.description_path;
  if (options.update_golden != UpdateGolden::no)
    findings.push_back({.kind = ErrorKind::usage,
                        .file = path,
                        .message = "--update-golden does not write the outputs of ONNX tests",
                        .suggestion = "leave this job out with --filter"});
  const auto model = onnx::open_onnx(path, findings, job.request.confinement);
  if (!model || !findings.empty()) return std::nullopt;
  OnnxJob prepared;
  prepared.tolerance_ = job.request.tolerance.value_or(onnx::default_tolerance());
  prepared.files_ = onnx::external_files(*model);
  prepared.files_.push_back(path);
  const std::string folder = to_text(to_path(path).parent_path());
  for (const std::string& set : onnx::data_sets_in(folder)) {
    auto data = onnx::prepare_data_set(
        *model, set, {.confinement = job.request.confinement, .size_source = onnx::SizeSource::job},
        options.checking, findings, warnings);
    if (!data) return std::nullopt;
    for (const char* stem : {"input", "output"}) {
      const auto files = onnx::tensors_in(set, stem);
      prepared.files_.insert(prepared.files_.end(), files.begin(), files.end());
    }
    prepared.sets_.push_back(std::move(*data));
  }
  if (!prepared.sets_.empty())
    prepared.operator_name_ = join(operators_of(prepared.sets_.front().lowered.model));
  return prepared;
}

std::vector<NamedFile> OnnxJob::golden_files() const {
  std::vector<NamedFile> files;
  for (const onnx::DataSet& set : sets_) {
    for (std::size_t i = 0; i < set.expected.size(); ++i)
      files.push_back({set.outputs[i].name, set.expected[i]});
  }
  return files;
}

void OnnxJob::add_to(Digest& digest, const Checking& checking) {
  digest.add(checking.feature_level ? to_text(*checking.feature_level) : "");
  for (const std::string& file : files_) digest.add(digest_of_file(file));
  digest.add(to_text(tolerance_));
  digest.add(tolerance_.allow_trivial ? "trivial" : "");
}

JobResult OnnxJob::run(Backend& backend, const BatchOptions& options, bool) {
  JobResult result;
  for (const onnx::DataSet& set : sets_) {
    auto comparisons =
        onnx::run_data_set(set, tolerance_, backend, options.execution, &result.device);
    std::move(comparisons.begin(), comparisons.end(), std::back_inserter(result.comparisons));
  }
  return result;
}

}  // namespace dmlop
