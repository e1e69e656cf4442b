#include "batch/description_job.hpp"

#include <filesystem>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "batch/job_pictures.hpp"
#include "batch/output_paths.hpp"
#include "job/folder.hpp"
#include "job/other_device.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

std::string first_output(const OperatorSpec& spec) {
  for (const FieldSpec& field : spec.fields) {
    if (field.is_output()) return field.name;
  }
  return "";
}

// Chooses the files of the folder that belong to the operator, and the files for its outputs.
void choose_files(Description& description, BatchJob& job, const BatchOptions& options,
                  Diagnostics& findings) {
  JobRequest& request = job.request;
  request.outputs_may_be_dropped = true;
  request.compares_with_found = options.against == nullptr;
  if (options.against != nullptr) request.expected.clear();
  request.is_of_batch = true;
  request.checking = options.checking;
  for (Binding& binding : description.bindings) {
    if (binding.path != "-" || request.confinement) continue;  // confined, it is refused anyway
    findings.push_back(
        description.document().at(*binding.written, "bindings." + binding.tensor +
                                                        " is \"-\": jobs of a batch have no "
                                                        "standard input or output of their own"));
    findings.back().suggestion = "name a file";
    binding.path.clear();  // nothing is read from it
  }
  if (options.output_folder.empty()) return;
  const fs::path folder = to_path(options.output_folder) / to_path(job.id);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ErrorKind::io_failed, "creating " + to_text(folder) + ": " + reason(error));
  request.outputs.clear();
  for (const std::string& name : output_file_names(description, request)) {
    const std::string path = to_text(folder / to_path(name + ".npy"));
    check_below_output_folder(job, options, path, &Confinement::problem_of_file, findings);
    request.outputs.push_back({name, path});
  }
}

}  // namespace

std::unique_ptr<DescriptionJob> DescriptionJob::prepare(Description description, BatchJob& job,
                                                        const BatchOptions& options,
                                                        Diagnostics& findings,
                                                        Diagnostics& warnings) {
  choose_files(description, job, options, findings);
  auto prepared = prepare_job(std::move(description), job.request, Purpose::run, findings);
  if (!prepared) return nullptr;
  warnings = prepared->warnings;
  std::unique_ptr<DescriptionJob> checked(new DescriptionJob(std::move(*prepared)));
  checked->tolerance_ = job.request.tolerance;
  return checked;
}

std::vector<NamedFile> DescriptionJob::outputs() const {
  std::vector<NamedFile> files;
  for (const BoundOutput& output : job_.outputs) files.push_back({output.name(), output.path});
  return files;
}

std::vector<NamedFile> DescriptionJob::golden_files() const {
  std::vector<NamedFile> files;
  for (const Expectation& expectation : job_.expected)
    files.push_back({expectation.name(), expectation.path});
  return files;
}

std::string DescriptionJob::reason_of_uncompared() const {
  if (!job_.outputs.empty() || !job_.expected.empty()) return "";
  return reason_without(first_output(*job_.description.spec));
}

void DescriptionJob::add_to(Digest& digest, const Checking&) {
  const Description& description = job_.description;
  digest.add(description.document().source(description.root()));
  digest.add(to_text(description.feature_level));
  for (const BoundInput& input : job_.inputs) {
    input_digests_.emplace_back(input.name(), array_digest_of(input.file));
    digest.add(input.name());
    digest.add(input_digests_.back().second);
  }
  for (const Expectation& expectation : job_.expected) {
    digest.add(expectation.name());
    digest.add(expectation.file ? array_digest_of(*expectation.file) : "missing");
    digest.add(to_text(expectation.tolerance));
    digest.add(expectation.tolerance.allow_trivial ? "trivial" : "");
  }
}

JobResult DescriptionJob::run(Backend& backend, const BatchOptions& options, bool updates) {
  if (options.against != nullptr)
    computed_by_other_ = expect_other_device(job_, *options.against, options.execution, tolerance_);
  if (updates) golden_.emplace();
  return run_job(job_, backend, options.execution, golden_ ? &*golden_ : nullptr);
}

std::string DescriptionJob::pictures_of(const JobResult& result, Backend& backend,
                                        const BatchOptions& options,
                                        std::atomic<unsigned>& pictures) const {
  return JobPictures(job_, backend, options.execution, pictures).of(result);
}

void DescriptionJob::update_golden(JobResult& result) {
  if (golden_) golden_->update(job_, result);
  golden_.reset();
}

}  // namespace dmlop
