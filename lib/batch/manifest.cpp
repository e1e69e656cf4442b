#include "batch/manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <utility>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "batch/manifest_kinds.hpp"
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

}  // namespace

std::unique_ptr<Manifest> open_manifest(const std::string& path, Diagnostics& diagnostics,
                                        const SharedConfinement& confinement) {
  if (path == "-" || has_extension(path, {".jsonl", ".ndjson"}))
    return lines_manifest(path, confinement);
  std::error_code error;
  if (fs::is_directory(to_path(path), error)) {
    auto folder = folder_manifest(path, confinement);
    if (folder->size() != 0) return folder;
    diagnostics.push_back(
        {.file = path,
         .message = "no op.json lies in this folder or below it, nor a model.json",
         .suggestion = "name a folder with jobs, a JSON file or JSON Lines"});
    return nullptr;
  }
  const bool may_be_absent =
      error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
  if (error && !may_be_absent)
    throw Error(ErrorKind::io_failed, "reading the jobs " + path + ": " + reason(error));
  std::string text =
      with_context("reading the jobs " + path, [&] { return json::read_text(path); });
  auto document = json::Document::parse(json::Source{path, 1, manifest_values_max}, std::move(text),
                                        diagnostics);
  if (!document) return nullptr;
  const json::Value& root = document->root();
  const bool has_model = is_model(root);
  if (has_model || root.find("type") != nullptr || root.find("Type") != nullptr) {
    diagnostics.push_back(document->at(
        root, std::string("this is one ") + (has_model ? "DxDispatch model" : "op description") +
                  ", not a list of jobs"));
    diagnostics.back().value.clear();
    diagnostics.back().suggestion =
        "run it with dmlop run, or write {\"jobs\": [...]}; one job a line needs a name in .jsonl";
    return nullptr;
  }
  return json_manifest(std::move(*document), confinement, diagnostics);
}

}  // namespace dmlop
