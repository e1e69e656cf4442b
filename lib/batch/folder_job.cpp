#include "batch/folder_job.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "batch/job_reader.hpp"
#include "job/bind.hpp"
#include "spec/field_reader.hpp"
#include "spec/tolerance_reader.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

class FolderJobReader {
 public:
  FolderJobReader(BatchJob& job, fs::path folder, const SharedConfinement& confinement)
      : job_(job), folder_(std::move(folder)), confinement_(confinement) {}

  void read() {
    job_.request.inputs = files_of(folder_);
    job_.golden_folder = to_text(folder_ / "expected");
    if (has_entry("expected")) job_.request.expected = files_of(folder_ / "expected");
    if (has_entry("expected.npy"))
      job_.request.expected.push_back({"", to_text(folder_ / "expected.npy"), confinement_});
    if (has_entry("tol.json")) read_tolerance_file();
    if (has_entry("job.json")) read_job_file();
  }

 private:
  // Whether the folder has an entry of this name, if only a link that leads nowhere.
  bool has_entry(const char* name) {
    std::error_code error;
    const fs::file_type type = fs::symlink_status(folder_ / name, error).type();
    if (type == fs::file_type::not_found) return false;
    if (!error) return true;
    job_.findings.push_back(
        {.kind = ErrorKind::io_failed,
         .message = "looking for " + to_text(folder_ / name) + ": " + reason(error)});
    return false;
  }

  std::vector<NamedFile> files_of(const fs::path& folder) {
    std::vector<NamedFile> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const fs::path& path = at->path();
      if (path.extension() == ".npy" && path.filename() != "expected.npy")
        files.push_back({to_text(path.stem()), to_text(path), confinement_});
    }
    if (error)  // a golden file that was overlooked would not be compared
      job_.findings.push_back({.kind = ErrorKind::io_failed,
                               .message = "listing " + to_text(folder) + ": " + reason(error)});
    std::sort(files.begin(), files.end(),
              [](const NamedFile& a, const NamedFile& b) { return a.tensor < b.tensor; });
    return files;
  }

  // A JSON file of the folder; nothing, with a finding, where it cannot be read.
  std::optional<json::Document> open(const std::string& path) {
    if (confinement_) {
      if (const PathProblem problem = confinement_->problem_of_file(path)) {
        job_.findings.push_back(confinement_finding(path, problem, *confinement_));
        return std::nullopt;
      }
    }
    try {
      std::string text = with_context(
          "reading " + path, [&] { return json::read_text(PinnedFile(confinement_, path)); });
      return json::Document::parse(path, std::move(text), job_.findings);
    } catch (const Error& error) {
      job_.findings.push_back({.kind = error.kind(), .file = path, .message = error.what()});
      return std::nullopt;
    }
  }

  void read_tolerance_file() {
    const auto document = open(to_text(folder_ / "tol.json"));
    if (!document) return;
    FieldReader reader(*document, job_.findings);
    job_.request.tolerance = read_tolerance(reader, document->root(), "tol.json");
  }

  void read_job_file() {
    const auto document = open(to_text(folder_ / "job.json"));
    if (!document) return;
    FieldReader reader(*document, job_.findings);
    if (document->root().kind != json::Value::Kind::object) {
      reader.expected(document->root(), "job.json", "an object such as {\"tags\": [\"slow\"]}");
      return;
    }
    reader.refuse_unknown(document->root(), job_file_fields(), "a job.json");
    read_choice(job_, *document, document->root());
  }

  BatchJob& job_;
  fs::path folder_;
  const SharedConfinement& confinement_;
};

}  // namespace

void read_folder_job(BatchJob& job, const std::string& path, const SharedConfinement& confinement) {
  job.request.confinement = confinement;
  job.request.description_path = path;
  fs::path folder = to_path(path).parent_path();
  if (folder.empty()) folder = ".";
  FolderJobReader(job, std::move(folder), confinement).read();
}

const std::vector<std::string>& job_file_fields() {
  static const std::vector<std::string> fields{"$schema", "tags", "skip", "xfail"};
  return fields;
}

}  // namespace dmlop
