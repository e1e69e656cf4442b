#include "batch/job_files.hpp"

#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/parallel.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "batch/digest.hpp"
#include "graph/edge_names.hpp"
#include "graph/files.hpp"
#include "job/file_names.hpp"
#include "job/folder.hpp"
#include "model/open.hpp"
#include "model/reading.hpp"
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

/// The files that a job reads. A path that is refused is not even looked up.
class ReadFiles {
 public:
  explicit ReadFiles(const BatchJob& job) : job_(job) {
    if (job.document) paths.push_back(job.document->file());
    const std::string& description = job.request.description_path;
    if (!description.empty()) paths.push_back(description);
    if (has_job_folder(description)) add_settings(to_path(description).parent_path());
    description.empty() ? add_job_itself() : add_description(description);
    add_named();
    for (const Diagnostic& finding : job.findings) {
      if (finding.kind == ErrorKind::io_failed) failure = finding.message;
    }
  }

  std::vector<std::string> paths;
  std::string failure;  // of the system, so that a file may be missing among the paths

 private:
  void add_settings(const std::filesystem::path& folder) {
    for (const char* name : {"tol.json", "job.json"}) paths.push_back(to_text(folder / name));
  }

  void add_job_itself() {
    if (job_.document) add_source({job_.document, job_.root});
  }

  // A description with mistakes names no files. Its job reports them.
  void add_description(const std::string& path) {
    std::error_code ignored;
    const bool is_pipe = std::filesystem::is_fifo(to_path(path), ignored);
    if (is_pipe) return;  // what its job is to read would be gone
    try {
      Diagnostics findings;
      const SharedConfinement& confinement = job_.request.confinement;
      if (onnx::is_named_onnx(path)) {
        if (const auto model = onnx::open_onnx(path, findings, confinement)) add_model(*model);
      } else if (path.ends_with(".bin")) {
        const auto opened = open_graph(path, "", findings, confinement);
        if (opened && opened->graph) add_inputs(opened->graph->inputs);
      } else {
        std::string text = json::read_text(PinnedFile(confinement, path));
        const auto file = parse_op_or_model(json::Source{path}, std::move(text), findings);
        if (file) add_source({file->document, file->root()});
      }
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      if (error.kind() == ErrorKind::io_failed) failure = error.what();
    }
  }

  void add_model(const onnx::OnnxModel& model) {
    const std::vector<std::string> files = onnx::external_files(model);
    paths.insert(paths.end(), files.begin(), files.end());
    std::vector<std::string> names;
    for (const onnx::ValueInfo& input : model.inputs) names.emplace_back(input.name);
    add_inputs(names);
  }

  void add_source(const Source& source) {
    const json::Value& root = *source.root;
    const std::string& file = source.document->file();
    if (is_model(root)) return add_dispatchables_and_resources(root, file);
    is_graph(root) ? add_graph(root, file) : add_operator(root, file);
  }

  void add_dispatchables_and_resources(const json::Value& root, const std::string& file) {
    const auto add_source_path = [&](const json::Value* object) {
      const json::Value* path = object == nullptr ? nullptr : object->find("sourcePath");
      if (path != nullptr && path->kind == Kind::string)
        add_text(ModelReading::native_path(path->text), file);
    };
    const auto for_each = [&](const char* name, const auto& action) {
      const json::Value* list = root.find(name);
      if (list == nullptr) return;
      for (const json::Member& member : list->members) action(member.value);
    };
    for_each("dispatchables", [&](const json::Value& each) { add_source_path(&each); });
    for_each("resources",
             [&](const json::Value& each) { add_source_path(each.find("initialValues")); });
  }

  void add_graph(const json::Value& root, const std::string& file) {
    if (const json::Value* constants = root.find("constants")) {
      for (const json::Member& member : constants->members) add_value(member.value, file);
    }
    const json::Value* inputs = root.find("inputs");
    if (inputs == nullptr) return;
    std::vector<std::string> names;
    for (const json::Value& input : inputs->items) {
      const json::Value* name = input.kind == Kind::object ? input.find("name") : &input;
      if (name != nullptr) names.push_back(name->text);
    }
    add_inputs(names);
  }

  void add_operator(const json::Value& root, const std::string& file) {
    const json::Value* type = root.find(root.find("type") != nullptr ? "type" : "Type");
    const OperatorSpec* spec =
        type == nullptr ? nullptr : find_spec(without_operator_prefix(type->text));
    if (spec == nullptr) return;
    for (const FieldSpec& field : spec->fields) {
      if (field.is_input()) inputs_.insert(field.name);
    }
    const json::Value* bindings = root.find("bindings");
    if (bindings == nullptr) return;
    for (const json::Member& member : bindings->members) {
      if (inputs_.contains(member.name)) add_value(member.value, file);
    }
  }

  void add_inputs(const std::vector<std::string>& edges) {
    for (const std::string& edge : edges) {
      inputs_.insert(edge);
      inputs_.insert(safe_file_name(edge));
    }
  }

  // A path, or those of an array of tensors.
  void add_value(const json::Value& value, const std::string& file) {
    for (const json::Value& item : value.items) add_value(item, file);
    if (value.kind == Kind::string) add_text(path_of(value.text), file);
  }

  void add_text(const std::string& text, const std::string& file) {
    if (text.empty() || text.find('\0') != std::string::npos) return;
    const SharedConfinement& confinement = job_.request.confinement;
    if (confinement && confinement->problem_of_text(text)) return;
    paths.push_back(path_beside(file, text));
  }

  // The files that the job names itself, or that lie beside its description.
  void add_named() {
    const FolderFiles& found = job_.request.found;
    for (const auto* files : {&job_.request.expected, &found.expected}) {
      for (const NamedFile& file : *files) paths.push_back(file.path);
    }
    for (const auto* files : {&job_.request.inputs, &found.inputs}) {
      for (const NamedFile& file : *files) {
        const bool is_input =
            inputs_.contains(file.tensor) || inputs_.contains(field_of_file(file.tensor));
        if (!file.random && is_input) paths.push_back(file.path);
      }
    }
  }

  const BatchJob& job_;
  std::set<std::string> inputs_;  // of the operator or graph, as their files are called, too
};

}  // namespace

bool JobFiles::are_of(const Manifest& manifest) {
  unread_ = manifest.again();
  return unread_ != nullptr;
}

// What fails does so for whoever asks, because the files of the rest are not known.
void JobFiles::read_all() {
  const std::scoped_lock lock(reading_mutex_);
  if (failure_) std::rethrow_exception(failure_);
  if (!unread_) return;
  try {
    for (std::uint32_t number = 1; auto job = unread_->next(); ++number) {
      check_for_stop();
      job->number = number;
      add(*job);
    }
    unread_.reset();
  } catch (...) {
    failure_ = std::current_exception();
    throw;
  }
}

void JobFiles::add(const BatchJob& job) {
  const ReadFiles files(job);
  if (!files.failure.empty()) {
    const std::scoped_lock lock(mutex_);
    failures_.emplace(job.number, files.failure);
  }
  for (const std::string& path : files.paths) {
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

void JobFiles::require_known(const BatchJob& job) {
  const std::scoped_lock lock(mutex_);
  const auto failure = failures_.find(job.number);
  if (failure != failures_.end()) throw Error(ErrorKind::io_failed, failure->second);
}

bool JobFiles::is_of_another(const std::string& path, const BatchJob& job) {
  read_all();
  const std::uint64_t digest = short_digest(path);
  const std::scoped_lock lock(mutex_);
  const std::uint32_t first = first_.find(digest);
  return shared_.find(digest) != 0 || (first != 0 && first != job.number);
}

}  // namespace dmlop
