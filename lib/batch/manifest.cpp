#include "batch/manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <set>
#include <utility>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/manifest_kinds.hpp"
#include "job/folder.hpp"
#include "model/open.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

// A batch in one JSON file may have more values than a single description.
constexpr std::size_t manifest_values_max = 20'000'000;

bool has_extension(const std::string& path, std::initializer_list<const char*> extensions) {
  const std::string extension = to_text(to_path(path).extension());
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

std::unique_ptr<Manifest> open_folder(ManifestSource source, Diagnostics& diagnostics) {
  const std::string path = source.path;
  auto folder = folder_manifest(std::move(source));
  if (folder->size() != 0) return folder;
  diagnostics.push_back(
      {.file = path,
       .message = "no op.json lies in this folder or below it, nor a model.json, a graph.json or a "
                  "Partition_0.bin",
       .suggestion = "name a folder with jobs, an op description, a JSON file or JSON Lines"});
  return nullptr;
}

std::unique_ptr<Manifest> open_one(ManifestSource source, Diagnostics& diagnostics) {
  const std::string path = source.path;
  if (path == "-" || has_extension(path, {".jsonl", ".ndjson"}))
    return lines_manifest(std::move(source));
  std::error_code error;
  if (fs::is_directory(to_path(path), error)) return open_folder(std::move(source), diagnostics);
  const bool may_be_absent =
      error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !may_be_absent)
    throw Error(ErrorKind::io_failed, "reading the jobs " + path + ": " + reason(error));
  // As in a folder, one that is wrong is a wrong job, and the others go on.
  if (!error && (has_job_folder(path) || has_extension(path, {".bin"})))
    return single_manifest(std::move(source));
  std::string text =
      with_context("reading the jobs " + path, [&] { return json::read_text(path); });
  const auto file =
      parse_op_or_model(json::Source{path, 1, manifest_values_max}, std::move(text), diagnostics);
  if (!file || !diagnostics.empty()) return nullptr;
  const json::Value& root = file->document->root();
  const bool is_description = root.find("type") != nullptr || root.find("Type") != nullptr;
  if (file->has_model || file->has_graph || (is_description && !is_one_job(root)))
    return single_manifest(std::move(source));
  return json_manifest(file->document, std::move(source), diagnostics);
}

/// Several manifests as one.
class ManifestList : public Manifest {
 public:
  explicit ManifestList(std::vector<std::unique_ptr<Manifest>> manifests)
      : manifests_(std::move(manifests)) {}

  std::optional<BatchJob> next() override {
    for (; at_ < manifests_.size(); ++at_) {
      if (auto job = manifests_[at_]->next()) return job;
    }
    return std::nullopt;
  }
  std::optional<std::uint64_t> size() const override {
    std::uint64_t sum = 0;
    for (const auto& manifest : manifests_) {
      const auto size = manifest->size();
      if (!size) return std::nullopt;
      sum += *size;
    }
    return sum;
  }
  std::unique_ptr<Manifest> again() const override {
    std::vector<std::unique_ptr<Manifest>> manifests;
    for (const auto& manifest : manifests_) {
      manifests.push_back(manifest->again());
      if (!manifests.back()) return nullptr;
    }
    return std::make_unique<ManifestList>(std::move(manifests));
  }

 private:
  std::vector<std::unique_ptr<Manifest>> manifests_;
  std::size_t at_ = 0;
};

// What ids begin with, of each path another.
std::vector<std::string> prefixes_of(const std::vector<JobsPath>& paths) {
  std::set<std::string> taken;
  std::vector<std::string> prefixes;
  for (const JobsPath& path : paths) {
    std::string name = valid_utf8(own_name(path.path));
    if (name.empty()) name = "jobs";
    std::string prefix = name;
    for (std::size_t number = 2; !taken.insert(prefix).second; ++number)
      prefix = name + "-" + std::to_string(number);
    prefixes.push_back(std::move(prefix));
  }
  return prefixes;
}

}  // namespace

std::unique_ptr<Manifest> open_manifest(const std::vector<JobsPath>& paths,
                                        Diagnostics& diagnostics) {
  if (paths.size() == 1)
    return open_one({paths.front().path, paths.front().confinement, ""}, diagnostics);
  const std::vector<std::string> prefixes = prefixes_of(paths);
  std::vector<std::unique_ptr<Manifest>> manifests;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Diagnostics findings;
    manifests.push_back(open_one({paths[i].path, paths[i].confinement, prefixes[i]}, findings));
    diagnostics.insert(diagnostics.end(), findings.begin(), findings.end());
  }
  if (!diagnostics.empty()) return nullptr;
  return std::make_unique<ManifestList>(std::move(manifests));
}

}  // namespace dmlop
