#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/manifest_kinds.hpp"
#include "job/bind.hpp"
#include "job/folder.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

bool is_description(const fs::path& name) {
  return name == "op.json" || name == "model.json";
}

/// A file that is a job, or a folder that may have some and cannot be walked.
struct Found {
  fs::path path;
  Diagnostics findings = {};
};

/// The folders of a tree, each once, however many links lead to it and even if they go round in
/// circles: a folder has its own name first, and that of the first link otherwise.
class FolderWalk {
 public:
  FolderWalk(fs::path root, SharedConfinement confinement)
      : root_(std::move(root)), confinement_(std::move(confinement)) {}

  /// In the order of their paths. Errors: io_failed where the root cannot be listed.
  std::vector<Found> run() {
    walk_tree(root_);
    while (!links_.empty()) walk_tree(links_.extract(links_.begin()).value());
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.path < b.path; });
    return std::move(found_);
  }

 private:
  void walk_tree(const fs::path& top) {
    std::vector<fs::path> folders{top};
    while (!folders.empty()) {
      const fs::path folder = std::move(folders.back());
      folders.pop_back();
      if (is_new(folder)) list(folder, folders);
    }
  }

  bool is_new(const fs::path& folder) {
    std::error_code error;
    const std::string real = real_path(to_text(folder), error);
    return error || walked_.insert(real).second;  // with an error, which listing it will have
  }

  void list(const fs::path& folder, std::vector<fs::path>& folders) {
    std::error_code error;
    fs::directory_iterator at(folder, error);
    for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
      const fs::path& path = at->path();
      std::error_code ignored;
      const bool is_link = at->is_symlink(ignored);
      const bool is_folder = at->is_directory(ignored);
      if (is_description(path.filename())) found_.push_back({path});
      if (is_folder && !is_link) folders.push_back(path);
      if (is_folder && is_link && !refuses(path)) links_.insert(path);
    }
    if (!error) return;
    const std::string message = "listing " + to_text(folder) + ": " + reason(error);
    if (folder == root_) throw Error(ErrorKind::io_failed, message);
    found_.push_back({folder, {{.kind = ErrorKind::io_failed, .message = message}}});
  }

  // A link to a folder outside is a job that is refused: passing over it would hide its jobs.
  bool refuses(const fs::path& link) {
    if (!confinement_) return false;
    const PathProblem problem = confinement_->problem_of_folder(to_text(link));
    if (problem)
      found_.push_back({link, {confinement_finding(to_text(link), problem, *confinement_)}});
    return static_cast<bool>(problem);
  }

  fs::path root_;
  SharedConfinement confinement_;
  std::vector<Found> found_;
  std::set<fs::path> links_;  // to folders, yet to be walked
  std::unordered_set<std::string> walked_;
};

/// Names of jobs: their folders', below the root.
class FolderIds {
 public:
  explicit FolderIds(fs::path root) : root_(std::move(root)) {}

  /// One for each of the files and folders that were found. No two are the same, and all are UTF-8:
  /// records and reports go by them.
  std::vector<std::string> of(const std::vector<Found>& found) {
    for (const Found& one : found) {
      if (one.path.filename() == "op.json") described_.insert(to_text(one.path.parent_path()));
    }
    std::vector<std::string> ids(found.size());
    // Names that are made up give way.
    for (const bool is_made_up : {false, true}) {
      for (std::size_t i = 0; i < found.size(); ++i) {
        const auto [id, made_up] = natural(found[i].path);
        if (made_up == is_made_up) ids[i] = unique(id);
      }
    }
    return ids;
  }

 private:
  struct Natural {
    std::string id;
    bool is_made_up = false;
  };

  Natural natural(const fs::path& path) const {
    const bool is_job = is_description(path.filename());
    // As the tree is walked: a link is a name in it, wherever it leads.
    const fs::path folder = is_job ? path.parent_path() : path;
    std::string id = to_text(folder.lexically_relative(root_));
    const bool is_root = id == ".";
    if (is_root) id = name_of_root();
    // A model beside an op description.
    const bool is_second = path.filename() == "model.json" && described_.contains(to_text(folder));
    std::string valid = valid_utf8(id);
    const bool is_made_up = is_root || is_second || valid != id;
    return {std::move(valid) + (is_second ? "/model" : ""), is_made_up};
  }

  std::string name_of_root() const {
    const fs::path absolute = fs::absolute(root_);
    const std::string name = to_text(absolute.lexically_normal().filename());
    return name.empty() ? to_text(absolute.parent_path().filename()) : name;
  }

  std::string unique(const std::string& id) {
    if (taken_.insert(id).second) return id;
    for (std::size_t& number = last_numbers_.try_emplace(id, 1).first->second;;) {
      std::string other = id + "-" + std::to_string(++number);
      if (taken_.insert(other).second) return other;
    }
  }

  fs::path root_;
  std::unordered_set<std::string> described_;  // folders with an op.json
  std::unordered_set<std::string> taken_;
  std::map<std::string, std::size_t> last_numbers_;
};

class FolderManifest : public Manifest {
 public:
  FolderManifest(const std::string& root, SharedConfinement confinement)
      : confinement_(std::move(confinement)),
        found_(FolderWalk(to_path(root), confinement_).run()),
        ids_(FolderIds(to_path(root)).of(found_)) {}

  std::optional<BatchJob> next() override {
    if (next_ == found_.size()) return std::nullopt;
    Found& found = found_[next_];
    BatchJob job{.id = std::move(ids_[next_++]), .place = to_text(found.path)};
    job.findings = std::move(found.findings);
    if (is_description(found.path.filename()) && is_inside(found.path, job))
      find_files(found.path, job);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return found_.size(); }

 private:
  // A job whose description is outside has no path, so that nobody opens it.
  bool is_inside(const fs::path& path, BatchJob& job) const {
    if (!confinement_) return true;
    const PathProblem problem = confinement_->problem_of_file(to_text(path));
    if (problem) job.findings.push_back(confinement_finding(to_text(path), problem, *confinement_));
    return !problem;
  }

  void find_files(const fs::path& path, BatchJob& job) const {
    JobRequest& request = job.request;
    request.confinement = confinement_;
    request.description_path = to_text(path);
    request.found = files_beside(request.description_path, confinement_, job.findings);
    request.tolerance = tolerance_beside(request.description_path, confinement_, job.findings);
  }

  SharedConfinement confinement_;
  std::vector<Found> found_;
  std::vector<std::string> ids_;
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Manifest> folder_manifest(const std::string& root, SharedConfinement confinement) {
  return std::make_unique<FolderManifest>(root, std::move(confinement));
}

}  // namespace dmlop
