#include "batch/job_files.hpp"

#include "base/file.hpp"
#include "base/system_file.hpp"
#include "batch/digest.hpp"
#include "job/file_names.hpp"
#include "model/open.hpp"
#include "onnx/onnx_model.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

/// A part of a document, and the file that its paths are relative to.
struct Source {
  std::shared_ptr<const json::Document> document;
  std::shared_ptr<const json::Value> root;
};

/// A description, model or graph in a file of its own; nothing if it is none in JSON.
std::optional<Source> source_in(const std::string& path, const SharedConfinement& confinement) {
  Diagnostics ignored;
  std::string text = json::read_text(PinnedFile(confinement, path));
  const auto file = parse_op_or_model(json::Source{path}, std::move(text), ignored);
  return file ? std::optional(Source{file->document, file->root()}) : std::nullopt;
}

void add_path(const json::Value* value, const std::string& file, std::vector<std::string>& paths) {
  const bool is_path = value != nullptr && value->kind == Kind::string && !value->text.empty() &&
                       value->text.find('\0') == std::string::npos;
  if (is_path) paths.push_back(path_beside(file, path_of(value->text)));
}

void add_sources_of_model(const json::Value& root, const std::string& file,
                          std::vector<std::string>& paths) {
  const json::Value* resources = root.find("resources");
  if (resources == nullptr) return;
  for (const json::Member& resource : resources->members) {
    const json::Value* values = resource.value.find("initialValues");
    if (values != nullptr) add_path(values->find("sourcePath"), file, paths);
  }
}

void add_members(const json::Value* list, const std::string& file,
                 std::vector<std::string>& paths) {
  if (list == nullptr) return;
  for (const json::Member& member : list->members) add_path(&member.value, file, paths);
}

void add_sources_of(const Source& source, std::vector<std::string>& paths) {
  const std::string& file = source.document->file();
  if (is_model(*source.root)) return add_sources_of_model(*source.root, file, paths);
  add_members(source.root->find("bindings"), file, paths);
  add_members(source.root->find("constants"), file, paths);
}

/// What the file of a job names: its description, model, graph or ONNX model.
void add_sources_in(const BatchJob& job, std::vector<std::string>& paths) {
  const std::string& path = job.request.description_path;
  if (path.empty() || path.ends_with(".bin")) return;
  const SharedConfinement& confinement = job.request.confinement;
  try {
    Diagnostics ignored;
    if (!onnx::is_named_onnx(path)) {
      if (const auto source = source_in(path, confinement)) add_sources_of(*source, paths);
    } else if (const auto model = onnx::open_onnx(path, ignored, confinement)) {
      const std::vector<std::string> files = onnx::external_files(*model);
      paths.insert(paths.end(), files.begin(), files.end());
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
  }
}

std::vector<std::string> paths_of(const BatchJob& job) {
  std::vector<std::string> paths;
  const FolderFiles& found = job.request.found;
  for (const auto* files : {&job.request.expected, &found.inputs, &found.expected}) {
    for (const NamedFile& file : *files) paths.push_back(file.path);
  }
  for (const NamedFile& file : job.request.inputs) {
    if (!file.random) paths.push_back(file.path);
  }
  if (job.document) add_sources_of({job.document, job.root}, paths);
  add_sources_in(job, paths);
  return paths;
}

}  // namespace

void JobFiles::add(const BatchJob& job) {
  for (const std::string& path : paths_of(job)) {
    if (!may_have_several_writers(path)) add(written_path(path), job.number);
  }
}

void JobFiles::add(const std::string& path, std::uint32_t number) {
  const std::uint64_t digest = short_digest(path);
  const std::scoped_lock lock(mutex_);
  const std::uint32_t first = first_.add(digest, number);
  if (first != 0 && first != number) shared_.add(digest, number);
}

bool JobFiles::is_of_another(const std::string& path, const BatchJob& job) {
  const std::uint64_t digest = short_digest(path);
  const std::scoped_lock lock(mutex_);
  const std::uint32_t first = first_.find(digest);
  return shared_.find(digest) != 0 || (first != 0 && first != job.number);
}

}  // namespace dmlop
