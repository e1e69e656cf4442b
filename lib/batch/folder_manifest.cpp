#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/folder_walk.hpp"
#include "base/path.hpp"
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

/// The jobs of a tree, and links to folders outside, which count as jobs that are refused: skipping
/// them would hide their jobs. In the order of their paths. Errors: io_failed if the root cannot be
/// listed.
std::vector<Found> jobs_below(const fs::path& root, const SharedConfinement& confinement) {
  std::vector<Found> found;
  FolderWalk walk;
  walk.entry = [&](const fs::path& path, bool) {
    if (has_job_folder(to_text(path))) found.push_back({path});
  };
  walk.follows = [&](const fs::path& link) {
    if (!confinement) return true;
    const PathProblem problem = confinement->problem_of_folder(to_text(link));
    if (problem)
      found.push_back({link, {confinement_finding(to_text(link), problem, *confinement)}});
    return !problem;
  };
  walk.unlisted = [&](const fs::path& folder, const std::error_code& error) {
    const std::string message = "listing " + to_text(folder) + ": " + reason(error);
    if (folder == root) throw Error(ErrorKind::io_failed, message);
    found.push_back({folder, {{.kind = ErrorKind::io_failed, .message = message}}});
  };
  walk_folders(root, walk);
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.path < b.path; });
  return found;
}

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
        found_(std::make_shared<const std::vector<Found>>(
            jobs_below(to_path(source_.path), source_.confinement))),
        ids_(std::make_shared<const std::vector<std::string>>(FolderIds(source_).of(*found_))) {}

  std::optional<BatchJob> next() override {
    if (next_ == found_->size()) return std::nullopt;
    const Found& found = (*found_)[next_];
    BatchJob job{.id = (*ids_)[next_++], .place = to_text(found.path)};
    job.findings = found.findings;
    if (has_job_folder(to_text(found.path)) && is_inside(found.path, job))
      read_folder_job(job, to_text(found.path), source_.confinement);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return found_->size(); }
  std::unique_ptr<Manifest> again() const override {
    auto manifest = std::make_unique<FolderManifest>(*this);
    manifest->next_ = 0;
    return manifest;
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
  std::shared_ptr<const std::vector<Found>> found_;
  std::shared_ptr<const std::vector<std::string>> ids_;
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
  std::unique_ptr<Manifest> again() const override {
    return std::make_unique<SingleManifest>(source_);
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
