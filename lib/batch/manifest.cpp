#include "batch/manifest.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

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

// Of tags and of golden files of one job.
constexpr std::size_t entries_max = 4096;

// Every job takes a copy of what it inherits.
constexpr std::size_t defaults_bytes_max = std::size_t{64} << 10;

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
    const json::Value* bindings = root_.find("bindings");
    if (bindings != nullptr && job_.request.confinement) check_bindings(*bindings);
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
    if (refuse_long(value, "tags", value.items.size())) return;
    const auto is_text = [](const json::Value& item) { return item.kind == Kind::string; };
    const auto wrong = std::find_if_not(value.items.begin(), value.items.end(), is_text);
    if (wrong != value.items.end()) reader_.expected(*wrong, "tags", "strings only");
    for (const json::Value& item : value.items) job_.tags.push_back(item.text);
  }

  // A path, or a path for each output.
  void read_expect(const json::Value& value) {
    const auto add = [&](const std::string& tensor, const json::Value& path) {
      const auto text = reader_.string(path, "expect");
      if (!text) return;
      if (text->empty() || *text == "-" || text->find('\0') != std::string::npos) {
        reader_.expected(path, "expect", "the path of a .npy file");
      } else {
        const std::string file = path_beside(job_.document->file(), *text);
        if (is_confined(path, "expect", *text, file))
          job_.request.expected.push_back({tensor, file, /*is_found=*/true});
      }
    };
    if (value.kind != Kind::object) return add("", value);
    if (refuse_long(value, "expect", value.members.size())) return;
    for (const json::Member& member : value.members) add(member.name, member.value);
  }

  bool refuse_long(const json::Value& value, const std::string& name, std::size_t entries) {
    if (entries <= entries_max) return false;
    reader_.add(job_.document->at(value, name + " has " + std::to_string(entries) +
                                             " entries, must have at most " +
                                             std::to_string(entries_max)));
    return true;
  }

  // Paths of the description, so that all that is refused is said at once.
  void check_bindings(const json::Value& bindings) {
    for (const json::Member& member : bindings.members) {
      const json::Value& path = member.value;
      if (path.kind != Kind::string || path.text.empty()) continue;
      is_confined(path, "bindings." + printable(member.name), path.text,
                  path_beside(job_.document->file(), path.text));
    }
  }

  bool is_confined(const json::Value& written, const std::string& name, const std::string& text,
                   const std::string& path) {
    const SharedConfinement& confinement = job_.request.confinement;
    if (!confinement) return true;
    PathProblem problem = confinement->problem_of_text(text);
    if (!problem) problem = confinement->problem_of_file(path);
    if (problem)
      reader_.add(confinement_finding(*job_.document, written, name, problem, *confinement));
    return !problem;
  }

  BatchJob& job_;
  const json::Value& root_;
  FieldReader reader_;
};

BatchJob job_from(std::shared_ptr<const json::Document> document,
                  std::shared_ptr<const json::Value> root, const std::string& default_id,
                  const SharedConfinement& confinement) {
  BatchJob job;
  job.request.confinement = confinement;
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
  LinesManifest(const std::string& path, SharedConfinement confinement)
      : path_(path), lines_(path, json::max_text_bytes), confinement_(std::move(confinement)) {}

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
    BatchJob job = job_from(std::move(shared), std::move(root), id, confinement_);
    job.findings.insert(job.findings.begin(), broken.findings.begin(), broken.findings.end());
    return job;
  }

  std::string path_;
  LineReader lines_;
  SharedConfinement confinement_;
  std::uint32_t number_ = 0;
};

// `job` completed by what `defaults` have and it lacks; objects are completed member by member.
json::Value merged(const json::Value& job, const json::Value& defaults, int depth = 0) {
  json::Value value = job;
  if (job.kind != Kind::object || defaults.kind != Kind::object) return value;
  std::set<std::string_view> names;
  for (const json::Member& member : job.members) names.insert(member.name);
  for (const json::Member& member : defaults.members) {
    if (!names.contains(member.name)) {
      value.members.push_back(member);
      continue;
    }
    if (depth != 0) continue;
    const auto has_name = [&](const json::Member& own) { return own.name == member.name; };
    const auto own = std::find_if(value.members.begin(), value.members.end(), has_name);
    own->value = merged(own->value, member.value, depth + 1);
  }
  return value;
}

/// {"defaults": {...}, "jobs": [...]}, or only the array.
class JsonManifest : public Manifest {
 public:
  JsonManifest(json::Document document, SharedConfinement confinement, Diagnostics& diagnostics)
      : document_(std::make_shared<const json::Document>(std::move(document))),
        confinement_(std::move(confinement)) {
    const json::Value& root = document_->root();
    FieldReader reader(*document_, diagnostics);
    if (root.kind == Kind::object) {
      reader.refuse_unknown(root, {"$schema", "defaults", "jobs"}, "a batch");
      defaults_ = root.find("defaults");
      if (defaults_ != nullptr && defaults_->kind != Kind::object)
        reader.expected(*defaults_, "defaults", "an object with fields for every job");
      if (defaults_ != nullptr && document_->source(*defaults_).size() > defaults_bytes_max)
        reader.add(document_->at(
            *defaults_, "defaults have " + std::to_string(document_->source(*defaults_).size()) +
                            " bytes, must have at most " + std::to_string(defaults_bytes_max)));
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
    BatchJob job = job_from(document_, std::move(root), id, confinement_);
    if (defaults_ != nullptr) job.defaults = document_->source(*defaults_);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return jobs_->items.size(); }

 private:
  std::shared_ptr<const json::Document> document_;
  SharedConfinement confinement_;
  const json::Value* defaults_ = nullptr;
  const json::Value* jobs_ = nullptr;
  std::size_t next_ = 0;
};

/// Every op.json and every model.json below a folder; inputs and golden files lie beside it under
/// their fields' names, or their resources'.
class FolderManifest : public Manifest {
 public:
  FolderManifest(const std::string& root, SharedConfinement confinement)
      : root_(to_path(root)), confinement_(std::move(confinement)) {
    const auto options = fs::directory_options::follow_directory_symlink;
    std::error_code error;
    for (fs::recursive_directory_iterator at(root_, options, error), end; !error && at != end;
         at.increment(error)) {
      if (at.depth() > depth_max || refuses_folder(*at)) at.disable_recursion_pending();
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
    if (const PathProblem problem = problem_of(path)) return refused_job(path, problem);
    BatchJob job{.id = job_id(path), .place = to_text(path)};
    job.request.confinement = confinement_;
    job.request.description_path = to_text(path);
    job.request.inputs = files_of(folder, job.findings);
    job.request.expected = files_of(folder / "expected", job.findings);
    if (fs::exists(folder / "expected.npy"))
      job.request.expected.push_back({"", to_text(folder / "expected.npy"), /*is_found=*/true});
    read_tolerance_file(folder / "tol.json", job);
    return job;
  }
  std::optional<std::uint64_t> size() const override { return paths_.size(); }

 private:
  static constexpr int depth_max = 32;  // links may go round in circles

  // A link to a folder outside is a job that is refused: passing over it would hide its jobs.
  bool refuses_folder(const fs::directory_entry& entry) {
    if (!confinement_ || !entry.is_symlink() || !entry.is_directory()) return false;
    const PathProblem problem = confinement_->problem_of_folder(to_text(entry.path()));
    if (problem) paths_.push_back(entry.path());
    return static_cast<bool>(problem);
  }

  PathProblem problem_of(const fs::path& path) const {
    if (!confinement_) return {};
    std::error_code ignored;
    return fs::is_directory(path, ignored) ? confinement_->problem_of_folder(to_text(path))
                                           : confinement_->problem_of_file(to_text(path));
  }

  // Without the path, so that nobody opens it.
  BatchJob refused_job(const fs::path& path, const PathProblem& problem) const {
    const bool is_job = path.filename() == "op.json" || path.filename() == "model.json";
    BatchJob job{.id = is_job ? job_id(path) : id_of(path), .place = to_text(path)};
    job.findings.push_back(confinement_finding(to_text(path), problem, *confinement_));
    return job;
  }

  // A model beside an op description has an id of its own.
  std::string job_id(const fs::path& path) const {
    const fs::path folder = path.parent_path();
    const bool is_second = path.filename() == "model.json" && fs::exists(folder / "op.json");
    return id_of(folder) + (is_second ? "/model" : "");
  }

  std::string id_of(const fs::path& folder) const {
    // As the tree is walked: a link is a name in it, wherever it leads.
    std::string id = to_text(folder.lexically_relative(root_));
    if (id != ".") return id;
    const std::string name = to_text(fs::absolute(folder).lexically_normal().filename());
    return name.empty() ? to_text(fs::absolute(folder).parent_path().filename()) : name;
  }

  // NAME.npy is the file of the tensor NAME; those that the operator lacks are sorted out by the
  // runner, which knows it.
  static std::vector<NamedFile> files_of(const fs::path& folder, Diagnostics& findings) {
    std::vector<NamedFile> files;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      const fs::path& path = at->path();
      if (path.extension() == ".npy" && path.filename() != "expected.npy")
        files.push_back({to_text(path.stem()), to_text(path), /*is_found=*/true});
    }
    const bool is_absent =
        error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
    if (error && !is_absent)  // a golden file that was overlooked would not be compared
      findings.push_back({.kind = ErrorKind::io_failed,
                          .message = "listing " + to_text(folder) + ": " + reason(error)});
    std::sort(files.begin(), files.end(),
              [](const NamedFile& a, const NamedFile& b) { return a.tensor < b.tensor; });
    return files;
  }

  static void read_tolerance_file(const fs::path& path, BatchJob& job) {
    if (!fs::exists(path)) return;
    const SharedConfinement& confinement = job.request.confinement;
    if (confinement) {
      if (const PathProblem problem = confinement->problem_of_file(to_text(path))) {
        job.findings.push_back(confinement_finding(to_text(path), problem, *confinement));
        return;
      }
    }
    try {
      std::string text = with_context("reading " + to_text(path), [&] {
        return InputFile::open(PinnedFile(confinement, to_text(path))).text();
      });
      const auto document = json::Document::parse(to_text(path), std::move(text), job.findings);
      if (!document) return;
      FieldReader reader(*document, job.findings);
      job.request.tolerance = read_tolerance(reader, document->root(), "tol.json");
    } catch (const Error& error) {
      job.findings.push_back({.kind = error.kind(), .message = error.what()});
    }
  }

  fs::path root_;
  SharedConfinement confinement_;
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

std::unique_ptr<Manifest> open_manifest(const std::string& path, Diagnostics& diagnostics,
                                        const SharedConfinement& confinement) {
  if (path == "-" || has_extension(path, {".jsonl", ".ndjson"}))
    return std::make_unique<LinesManifest>(path, confinement);
  std::error_code error;
  if (fs::is_directory(to_path(path), error)) {
    auto folder = std::make_unique<FolderManifest>(path, confinement);
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
      with_context("reading the jobs " + path, [&] { return InputFile::open(path).text(); });
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
  const std::size_t before = diagnostics.size();
  auto manifest = std::make_unique<JsonManifest>(std::move(*document), confinement, diagnostics);
  if (diagnostics.size() != before) return nullptr;
  return manifest;
}

}  // namespace dmlop
