#include "batch/folder_job.hpp"

#include <filesystem>
#include <system_error>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "batch/job_reader.hpp"
#include "job/confined_files.hpp"
#include "job/folder.hpp"
#include "spec/field_reader.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

void read_job_document(BatchJob& job, const json::Document& document) {
  FieldReader reader(document, job.findings);
  if (document.root().kind != json::Value::Kind::object) {
    reader.expected(document.root(), "job.json", "an object such as {\"tags\": [\"slow\"]}");
    return;
  }
  reader.refuse_unknown(document.root(), job_file_fields(), "a job.json");
  read_choice(job, document, document.root());
}

// A file that is there and cannot be read is a finding, whatever keeps it from being read.
void read_job_file(BatchJob& job, const std::string& path, const SharedConfinement& confinement) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(to_path(path), error).type();
  if (type == fs::file_type::not_found) {
    job.has_known_tags = true;
    return;
  }
  try {
    if (error) throw Error(ErrorKind::io_failed, "looking for " + path + ": " + reason(error));
    if (const auto problem = problem_of_found(path, confinement)) {
      job.findings.push_back(*problem);
      return;
    }
    std::string text = with_context("reading " + path,
                                    [&] { return json::read_text(PinnedFile(confinement, path)); });
    const auto document = json::Document::parse(path, std::move(text), job.findings);
    if (document) read_job_document(job, *document);
  } catch (const Error& failure) {
    job.findings.push_back({.kind = failure.kind(), .file = path, .message = failure.what()});
  }
}

}  // namespace

void read_folder_job(BatchJob& job, const std::string& path, const SharedConfinement& confinement) {
  JobRequest& request = job.request;
  request.confinement = confinement;
  request.description_path = path;
  request.found = files_beside(path, confinement, job.findings);
  request.tolerance = tolerance_beside(path, confinement, job.findings);
  job.has_known_tags = !has_job_folder(path);
  if (has_job_folder(path))
    read_job_file(job, to_text(to_path(path).parent_path() / "job.json"), confinement);
}

std::string expected_failure_beside(const std::string& path, const SharedConfinement& confinement,
                                    Diagnostics& diagnostics) {
  if (!has_job_folder(path)) return "";
  BatchJob job;
  read_job_file(job, to_text(to_path(path).parent_path() / "job.json"), confinement);
  diagnostics.insert(diagnostics.end(), job.findings.begin(), job.findings.end());
  return job.xfail_reason;
}

const std::vector<std::string>& job_file_fields() {
  static const std::vector<std::string> fields{"$schema", "tags", "skip", "xfail"};
  return fields;
}

}  // namespace dmlop
