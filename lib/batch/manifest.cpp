#include "batch/manifest.hpp"

#include <algorithm>
#include <filesystem>

#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/lines.hpp"
#include "job/bind.hpp"
#include "model/open.hpp"
#include "spec/field_reader.hpp"
#include "spec/tolerance_reader.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Kind = json::Value::Kind;

// A batch in one JSON file may have more values than a single description.
constexpr std::size_t manifest_values_max = 20'000'000;

constexpr std::size_t id_bytes_max = 200;

// An id names a folder below --out, and is printed.
std::string id_problem(const std::string& id) {
  for (const std::string_view made_up : {"line-", "job-"}) {
    const bool is_like = id.starts_with(made_up) && id.size() > made_up.size() &&
                         id.find_first_not_of("0123456789", made_up.size()) == std::string::npos;
    if (is_like) return "looks like those of jobs without an id";
  }
  if (id.empty()) return "is empty";
  if (id.size() > id_bytes_max) return "is longer than " + std::to_string(id_bytes_max) + " bytes";
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(id.begin(), id.end(), is_control)) return "has a control character";
  for (const fs::path& part : to_path(id)) {
    if (part == ".." || part == "." || part == "/" || part.empty() || part.has_root_name())
      return "names a folder below --out and must not have empty parts, \".\" or \"..\"";
  }
  return "";
}

/// Reads the fields that belong to the job, not to its description.
class JobReader {
 public:
  JobReader(BatchJob& job, const json::Value& root)
      : job_(job), root_(root), reader_(*job.document, job.findings) {}

  void read(const std::string& default_id) {
    job_.id = job_.made_up_id = default_id;
    if (root_.kind != Kind::object) {
      reader_.expected(root_, "a job", "an object: an op description, with id, expect and so on");
      return;
    }
    if (const json::Value* id = root_.find("id")) read_id(*id);
    if (const json::Value* tags = root_.find("tags")) read_tags(*tags);
    if (const json::Value* skip = root_.find("skip")) {
      job_.skip_reason = reader_.string(*skip, "skip").value_or("");
      if (job_.skip_reason.empty())
        reader_.expected(*skip, "skip", "the reason why this job is not run");
    }
    if (const json::Value* tolerance = root_.find("tolerance"))
      job_.request.tolerance = read_tolerance(reader_, *tolerance, "tolerance");
    if (const json::Value* expect = root_.find("expect")) read_expect(*expect);
  }

 private:
  void read_id(const json::Value& value) {
    const auto id = reader_.string(value, "id");
    if (!id) return;
    const std::string problem = *id == job_.id ? "" : id_problem(*id);
    if (!problem.empty()) {
      reader_.add(job_.document->at(value, "the id \"" + printable(*id) + "\" " + problem));
    } else {
      job_.id = *id;
      job_.has_own_id = true;
    }
  }

  void read_tags(const json::Value& value) {
    if (value.kind != Kind::array) {
      reader_.expected(value, "tags", "an array of strings");
      return;
    }
    for (const json::Value& item : value.items) {
      if (auto tag = reader_.string(item, "tags")) job_.tags.push_back(*tag);
    }
  }

  // A path, or a path for each output.
  void read_expect(const json::Value& value) {
    const auto add = [&](const std::string& tensor, const json::Value& path) {
      const auto text = reader_.string(path, "expect");
      if (!text) return;
      if (text->empty() || *text == "-" || text->find('\0') != std::string::npos) {
        reader_.expected(path, "expect", "the path of a .npy file");
      } else {
        job_.request.expected.push_back({tensor, path_beside(job_.document->file(), *text)});
      }
    };
    if (value.kind != Kind::object) return add("", value);
    for (const json::Member& member : value.members) add(member.name, member.value);
  }

  BatchJob& job_;
  const json::Value& root_;
  FieldReader reader_;
};

BatchJob job_from(std::shared_ptr<const json::Document> document,
                  std::shared_ptr<const json::Value> root, const std::string& default_id) {
  BatchJob job;
  job.line = document->line_of(*root);
  job.place = document->file() + ":" + std::to_string(job.line);
  job.text = document->source(*root);
  job.document = std::move(document);
  job.root = std::move(root);
  JobReader(job, *job.root).read(default_id);
  return job;
}

/// One job a line. Empty lines are none.
class LinesManifest : public Manifest {
 public:
  explicit LinesManifest(const std::string& path)
      : path_(path), lines_(path, json::max_text_bytes) {}

  std::optional<BatchJob> next() override {
    while (auto line = lines_.next()) {
      ++number_;
      if (line->is_too_long) return too_long_job();
      if (line->text.find_first_not_of(" \t\r") == std::string::npos) continue;
      return job_of(std::move(line->text));
    }
    return std::nullopt;
  }

 private:
  BatchJob too_long_job() const {
    BatchJob job{.id = "line-" + std::to_string(number_),
                 .place = path_ + ":" + std::to_string(number_),
                 .line = number_};
    job.findings.push_back(
        {.file = path_,
         .line = number_,
         .column = 1,
         .message = "this line has more than " + std::to_string(json::max_text_bytes) + " bytes",
         .rule = "a job has at most " + std::to_string(json::max_text_bytes) + " bytes of JSON",
         .suggestion = "put large tensors into .npy files and name them in bindings"});
    return job;
  }

  BatchJob job_of(std::string line) {
    const std::string id = "line-" + std::to_string(number_);
    BatchJob broken{
        .id = id, .place = path_ + ":" + std::to_string(number_), .line = number_, .text = line};
    auto document =
        json::Document::parse(json::Source{path_, number_}, std::move(line), broken.findings);
    if (!document) return broken;
    auto shared = std::make_shared<const json::Document>(std::move(*document));
    std::shared_ptr<const json::Value> root(shared, &shared->root());
    BatchJob job = job_from(std::move(shared), std::move(root), id);
    job.findings.insert(job.findings.begin(), broken.findings.begin(), broken.findings.end());
    return job;
  }

  std::string path_;
  LineReader lines_;
  std::uint32_t number_ = 0;
};

// `job` completed by what `defaults` have and it lacks; objects are completed member by member.
json::Value merged(const json::Value& job, const json::Value& defaults, int depth = 0) {
  json::Value value = job;
  if (job.kind != Kind::object || defaults.kind != Kind::object) return value;
  for (const json::Member& member : defaults.members) {
    const auto has_name = [&](const json::Member& own) { return own.name == member.name; };
    const auto own = std::find_if(value.members.begin(), value.members.end(), has_name);
    if (own == value.members.end()) {
      value.members.push_back(member);
    } else if (depth == 0) {
      own->value = merged(own->value, member.value, depth + 1);
    }
  }
  return value;
}

/// {"defaults": {...}, "jobs": [...]}, or only the array.
class JsonManifest : public Manifest {
 public:
  JsonManifest(json::Document document, Diagnostics& diagnostics)
      : document_(std::make_shared<const json::Document>(std::move(document))) {
    const json::Value& root = document_->root();
    FieldReader reader(*document_, diagnostics);
    if (root.kind == Kind::object) {
      reader.refuse_unknown(root, {"$schema", "defaults", "jobs"}, "a batch");
      defaults_ = root.find("defaults");
      if (defaults_ != nullptr && defaults_->kind != Kind::object)
        reader.expected(*defaults_, "defaults", "an object with fields for every job");
    }
    jobs_ = root.kind == Kind::array ? &root : root.find("jobs");
    if (jobs_ == nullptr) {
      diagnostics.push_back(document_->at(root, "the field \"jobs\" is missing"));
      diagnostics.back().value.clear();
    } else if (jobs_->kind != Kind::array) {
      reader.expected(*jobs_, "jobs", "an array of jobs");
    }
  }

  std::optional<BatchJob> next() override {
    if (next_ == jobs_->items.size()) return std::nullopt;
    const json::Value& item = jobs_->items[next_];
    const std::string id = "job-" + std::to_string(next_++);
    auto root = defaults_ != nullptr ? std::make_shared<const json::Value>(merged(item, *defaults_))
                                     : std::shared_ptr<const json::Value>(document_, &item);
    BatchJob job = job_from(document_, std::move(root), id);
    if (defaults_ != nullptr) job.defaults = document_->source(*defaults_);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return jobs_->items.size(); }

 private:
  std::shared_ptr<const json::Document> document_;
  const json::Value* defaults_ = nullptr;
  const json::Value* jobs_ = nullptr;
  std::size_t next_ = 0;
};

/// Every op.json and every model.json below a folder; inputs and golden files lie beside it under
/// their fields' names, or their resources'.
class FolderManifest : public Manifest {
 public:
  explicit FolderManifest(const std::string& root) : root_(to_path(root)) {
    const auto options = fs::directory_options::follow_directory_symlink;
    std::error_code error;
    for (fs::recursive_directory_iterator at(root_, options, error), end; !error && at != end;
         at.increment(error)) {
      if (at.depth() > depth_max) at.disable_recursion_pending();
      const fs::path name = at->path().filename();
      if (name == "op.json" || name == "model.json") paths_.push_back(at->path());
    }
    if (error) throw Error(ErrorKind::io_failed, "listing " + root + ": " + reason(error));
    std::sort(paths_.begin(), paths_.end());
  }

  std::optional<BatchJob> next() override {
    if (next_ == paths_.size()) return std::nullopt;
    const fs::path& path = paths_[next_++];
    const fs::path folder = path.parent_path();
    BatchJob job{.id = id_of(folder), .place = to_text(path)};
    if (path.filename() == "model.json" && fs::exists(folder / "op.json")) job.id += "/model";
    job.request.description_path = to_text(path);
    job.request.inputs = files_of(folder, {});
    job.request.expected = files_of(folder / "expected", {});
    if (fs::exists(folder / "expected.npy"))
      job.request.expected.push_back({"", to_text(folder / "expected.npy")});
    read_tolerance_file(folder / "tol.json", job);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return paths_.size(); }

 private:
  static constexpr int depth_max = 32;  // links may go round in circles

  std::string id_of(const fs::path& folder) const {
    // As the tree is walked: a link is a name in it, wherever it leads.
    const std::string id = to_text(folder.lexically_relative(root_));
    if (id != ".") return id;
    const std::string name = to_text(fs::absolute(folder).lexically_normal().filename());
    return name.empty() ? to_text(fs::absolute(folder).parent_path().filename()) : name;
  }

  // NAME.npy is the file of the tensor NAME; those that the operator lacks are sorted out by the
  // runner, which knows it.
  static std::vector<NamedFile> files_of(const fs::path& folder, std::error_code error) {
    std::vector<NamedFile> files;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const fs::path& path = at->path();
      if (path.extension() == ".npy" && path.filename() != "expected.npy")
        files.push_back({to_text(path.stem()), to_text(path)});
    }
    std::sort(files.begin(), files.end(),
              [](const NamedFile& a, const NamedFile& b) { return a.tensor < b.tensor; });
    return files;
  }

  static void read_tolerance_file(const fs::path& path, BatchJob& job) {
    if (!fs::exists(path)) return;
    try {
      const InputFile file =
          with_context("reading " + to_text(path), [&] { return InputFile::open(to_text(path)); });
      const auto* text = reinterpret_cast<const char*>(file.bytes().data());
      const auto document =
          json::Document::parse(to_text(path), {text, file.bytes().size()}, job.findings);
      if (!document) return;
      FieldReader reader(*document, job.findings);
      job.request.tolerance = read_tolerance(reader, document->root(), "tol.json");
    } catch (const Error& error) {
      job.findings.push_back({.kind = error.kind(), .message = error.what()});
    }
  }

  fs::path root_;
  std::vector<fs::path> paths_;
  std::size_t next_ = 0;
};

bool has_extension(const std::string& path, std::initializer_list<const char*> extensions) {
  const std::string extension = to_text(to_path(path).extension());
  return std::find(extensions.begin(), extensions.end(), extension) != extensions.end();
}

}  // namespace

const std::vector<std::string>& batch_job_fields() {
  static const std::vector<std::string> fields{"id", "expect", "tolerance", "tags", "skip"};
  return fields;
}

std::unique_ptr<Manifest> open_manifest(const std::string& path, Diagnostics& diagnostics) {
  if (path == "-" || has_extension(path, {".jsonl", ".ndjson"}))
    return std::make_unique<LinesManifest>(path);
  std::error_code error;
  if (fs::is_directory(to_path(path), error)) {
    auto folder = std::make_unique<FolderManifest>(path);
    if (folder->size() != 0) return folder;
    diagnostics.push_back(
        {.file = path,
         .message = "no op.json lies in this folder or below it, nor a model.json",
         .suggestion = "name a folder with jobs, a JSON file or JSON Lines"});
    return nullptr;
  }
  const InputFile file =
      with_context("reading the jobs " + path, [&] { return InputFile::open(path); });
  const auto* text = reinterpret_cast<const char*>(file.bytes().data());
  auto document = json::Document::parse(json::Source{path, 1, manifest_values_max},
                                        {text, file.bytes().size()}, diagnostics);
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
  const std::size_t before = diagnostics.size();
  auto manifest = std::make_unique<JsonManifest>(std::move(*document), diagnostics);
  if (diagnostics.size() != before) return nullptr;
  return manifest;
}

}  // namespace dmlop
