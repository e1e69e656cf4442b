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
#include "batch/folder_job.hpp"
#include "batch/manifest_kinds.hpp"
#include "job/confined_files.hpp"
#include "job/folder.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

/// A file that is a job, or a folder that may contain jobs but cannot be listed.
struct Found {
  fs::path path;
  Diagnostics findings = {};
};

/// Finds each folder of a tree once, however many links lead to it and even if links form circles.
/// A folder gets its own name or, if it has none in the tree, that of the first link.
class FolderWalk {
 public:
  FolderWalk(fs::path root, SharedConfinement confinement)
      : root_(std::move(root)), confinement_(std::move(confinement)) {}

  /// In the order of their paths. Errors: io_failed if the root cannot be listed.
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
    for (const FolderEntry& entry : entries_of(to_text(folder), error)) {
      const fs::path path = folder / to_path(entry.name);
      std::error_code ignored;
      const bool is_link = entry.kind == EntryKind::link;
      const bool is_folder =
          is_link ? fs::is_directory(path, ignored) : entry.kind == EntryKind::folder;
      if (has_job_folder(to_text(path))) found_.push_back({path});
      if (is_folder && !is_link) folders.push_back(path);
      if (is_folder && is_link && !refuses(path)) links_.insert(path);
    }
    if (!error) return;
    const std::string message = "listing " + to_text(folder) + ": " + reason(error);
    if (folder == root_) throw Error(ErrorKind::io_failed, message);
    found_.push_back({folder, {{.kind = ErrorKind::io_failed, .message = message}}});
  }

  // A link to a folder outside counts as a job that is refused. Skipping it would hide its jobs.
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

/// Derives the ids of jobs from their folders below the root.
class FolderIds {
 public:
  explicit FolderIds(const ManifestSource& source) : source_(source), root_(to_path(source.path)) {}

  /// One id for each file and folder that was found. Ids are distinct and UTF-8, because records
  /// and reports use them.
  std::vector<std::string> of(const std::vector<Found>& found) {
    for (const Found& one : found) {
      if (!has_job_folder(to_text(one.path))) continue;
      const auto [first, is_new] =
          firsts_.try_emplace(to_text(one.path.parent_path()), one.path.filename());
      if (!is_new && rank_of(one.path.filename()) < rank_of(first->second))
        first->second = one.path.filename();
    }
    std::vector<std::string> ids(found.size());
    // Made-up ids give way to others.
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

  // The first of a folder's descriptions has the folder's id.
  static std::pair<std::ptrdiff_t, std::string> rank_of(const fs::path& path) {
    std::string name = to_text(path);
    const auto rank = std::ranges::find(description_names, name) - description_names.begin();
    return {rank, std::move(name)};
  }

  Natural natural(const fs::path& path) const {
    const bool is_job = has_job_folder(to_text(path));
    // A link is a name in the tree, wherever it leads.
    const fs::path folder = is_job ? path.parent_path() : path;
    std::string id = to_text(folder.lexically_relative(root_));
    const bool is_root = id == ".";
    if (!source_.prefix.empty()) id = source_.id_of(is_root ? "" : id);
    if (is_root && source_.prefix.empty()) id = own_name(source_.path);
    // It is a model or a graph beside another description.
    const bool is_second = is_job && firsts_.at(to_text(folder)) != path.filename();
    std::string valid = valid_utf8(id);
    const bool is_made_up = is_root || is_second || valid != id;
    if (is_second) valid += "/" + to_text(path.stem());
    return {std::move(valid), is_made_up};
  }

  std::string unique(const std::string& id) {
    if (taken_.insert(id).second) return id;
    for (std::size_t& number = last_numbers_.try_emplace(id, 1).first->second;;) {
      std::string other = id + "-" + std::to_string(++number);
      if (taken_.insert(other).second) return other;
    }
  }

  const ManifestSource& source_;
  fs::path root_;
  std::map<std::string, fs::path> firsts_;  // of a folder's descriptions, the one with its id
  std::unordered_set<std::string> taken_;
  std::map<std::string, std::size_t> last_numbers_;
};

class FolderManifest : public Manifest {
 public:
  explicit FolderManifest(ManifestSource source)
      : source_(std::move(source)),
        found_(FolderWalk(to_path(source_.path), source_.confinement).run()),
        ids_(FolderIds(source_).of(found_)) {}

  std::optional<BatchJob> next() override {
    if (next_ == found_.size()) return std::nullopt;
    const Found& found = found_[next_];
    BatchJob job{.id = ids_[next_++], .place = to_text(found.path)};
    job.findings = found.findings;
    if (has_job_folder(to_text(found.path)) && is_inside(found.path, job))
      read_folder_job(job, to_text(found.path), source_.confinement);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return found_.size(); }
  bool rewind() override {
    next_ = 0;
    return true;
  }

 private:
  // A job whose description is outside gets no path, so that nobody opens it.
  bool is_inside(const fs::path& path, BatchJob& job) const {
    if (!source_.confinement) return true;
    const PathProblem problem = source_.confinement->problem_of_file(to_text(path));
    if (problem)
      job.findings.push_back(confinement_finding(to_text(path), problem, *source_.confinement));
    return !problem;
  }

  ManifestSource source_;
  std::vector<Found> found_;
  std::vector<std::string> ids_;
  std::size_t next_ = 0;
};

/// A description that was named itself, with the files beside it.
class SingleManifest : public Manifest {
 public:
  explicit SingleManifest(ManifestSource source) : source_(std::move(source)) {}

  std::optional<BatchJob> next() override {
    if (std::exchange(is_done_, true)) return std::nullopt;
    const std::string name = source_.prefix.empty() ? own_name(source_.path) : source_.prefix;
    BatchJob job{.id = valid_utf8(name), .place = source_.path};
    read_folder_job(job, source_.path, source_.confinement);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return 1; }
  bool rewind() override {
    is_done_ = false;
    return true;
  }

 private:
  ManifestSource source_;
  bool is_done_ = false;
};

}  // namespace

std::string own_name(const std::string& path) {
  const fs::path absolute = fs::absolute(to_path(path)).lexically_normal();
  if (has_job_folder(path)) return to_text(absolute.parent_path().filename());
  std::error_code ignored;
  if (!fs::is_directory(absolute, ignored)) return to_text(absolute.stem());
  const std::string name = to_text(absolute.filename());
  return name.empty() ? to_text(absolute.parent_path().filename()) : name;
}

std::unique_ptr<Manifest> folder_manifest(ManifestSource source) {
  return std::make_unique<FolderManifest>(std::move(source));
}

std::unique_ptr<Manifest> single_manifest(ManifestSource source) {
  return std::make_unique<SingleManifest>(std::move(source));
}

}  // namespace dmlop
