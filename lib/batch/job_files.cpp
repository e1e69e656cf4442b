#include "batch/job_files.hpp"

#include <set>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/system_file.hpp"
#include "batch/digest.hpp"
#include "job/file_names.hpp"
#include "model/open.hpp"
#include "onnx/onnx_model.hpp"
#include "spec/facts.hpp"
#include "spec/spec.hpp"

namespace dmlop {
namespace {

using Kind = json::Value::Kind;

// Paths that many jobs name, such as that of their list, are resolved once. So many are kept.
constexpr std::size_t kept_most = 1000;

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

// Of a description, the files that it reads.
void add_inputs(const json::Value& root, const std::string& file, std::vector<std::string>& paths) {
  const json::Value* type = root.find("type");
  const OperatorSpec* spec =
      type == nullptr ? nullptr : find_spec(without_operator_prefix(type->text));
  const json::Value* bindings = root.find("bindings");
  if (bindings == nullptr) return;
  for (const json::Member& member : bindings->members) {
    const std::string_view name = std::string_view(member.name).substr(0, member.name.find('['));
    const FieldSpec* field = spec == nullptr ? nullptr : spec->find_field(name);
    if (field == nullptr || !field->is_output()) add_path(&member.value, file, paths);
  }
}

void add_sources_of(const Source& source, std::vector<std::string>& paths) {
  const std::string& file = source.document->file();
  if (is_model(*source.root)) return add_sources_of_model(*source.root, file, paths);
  add_inputs(*source.root, file, paths);
  add_members(source.root->find("constants"), file, paths);
}

/// The names of a graph's inputs; nothing if they are not known.
using InputNames = std::optional<std::set<std::string>>;

InputNames input_names(const json::Value& root) {
  const json::Value* inputs = root.find("inputs");
  if (!is_graph(root) || inputs == nullptr) return std::nullopt;
  std::set<std::string> names;
  for (const json::Value& input : inputs->items) {
    const json::Value* name = input.kind == Kind::object ? input.find("name") : &input;
    if (name != nullptr) names.insert(name->text);
  }
  return names;
}

InputNames input_names(const onnx::OnnxModel& model) {
  std::set<std::string> names;
  for (const onnx::ValueInfo& input : model.inputs) names.emplace(input.name);
  return names;
}

/// Adds what the file of a job names: its description, model, graph or ONNX model. Returns the
/// inputs of a graph.
InputNames add_sources_in(const BatchJob& job, std::vector<std::string>& paths) {
  const std::string& path = job.request.description_path;
  if (path.empty() || path.ends_with(".bin")) return std::nullopt;
  const SharedConfinement& confinement = job.request.confinement;
  try {
    Diagnostics ignored;
    if (!onnx::is_named_onnx(path)) {
      const auto source = source_in(path, confinement);
      if (!source) return std::nullopt;
      add_sources_of(*source, paths);
      return input_names(*source->root);
    }
    if (const auto model = onnx::open_onnx(path, ignored, confinement)) {
      const std::vector<std::string> files = onnx::external_files(*model);
      paths.insert(paths.end(), files.begin(), files.end());
      return input_names(*model);
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
  }
  return std::nullopt;
}

std::vector<std::string> paths_of(const BatchJob& job) {
  std::vector<std::string> paths;
  if (job.document) paths.push_back(job.document->file());
  if (!job.request.description_path.empty()) paths.push_back(job.request.description_path);
  const FolderFiles& found = job.request.found;
  for (const auto* files : {&job.request.expected, &found.inputs, &found.expected}) {
    for (const NamedFile& file : *files) paths.push_back(file.path);
  }
  if (job.document && job.request.description_path.empty())
    add_sources_of({job.document, job.root}, paths);
  const InputNames inputs = add_sources_in(job, paths);
  for (const NamedFile& file : job.request.inputs) {
    if (!file.random && (!inputs || inputs->contains(file.tensor))) paths.push_back(file.path);
  }
  return paths;
}

}  // namespace

bool JobFiles::are_of(const Manifest& manifest) {
  unread_ = manifest.again();
  return unread_ != nullptr;
}

void JobFiles::read_all() {
  const std::scoped_lock lock(reading_mutex_);
  if (!unread_) return;
  while (auto job = unread_->next()) {
    check_for_stop();
    job->number = ++read_;
    add(*job);
  }
  unread_.reset();
}

void JobFiles::add(const BatchJob& job) {
  for (const std::string& path : paths_of(job)) {
    if (!shared_as_written_.contains(path) && !may_have_several_writers(path))
      add(path, job.number);
  }
}

void JobFiles::add(const std::string& path, std::uint32_t number) {
  const std::uint64_t digest = short_digest(written_path(path));
  const std::scoped_lock lock(mutex_);
  const std::uint32_t first = first_.add(digest, number);
  if (first == 0 || first == number) return;
  shared_.add(digest, number);
  if (shared_as_written_.size() < kept_most) shared_as_written_.insert(path);
}

bool JobFiles::is_of_another(const std::string& path, const BatchJob& job) {
  read_all();
  const std::uint64_t digest = short_digest(path);
  const std::scoped_lock lock(mutex_);
  const std::uint32_t first = first_.find(digest);
  return shared_.find(digest) != 0 || (first != 0 && first != job.number);
}

}  // namespace dmlop
