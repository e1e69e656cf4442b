#include "batch/job_reader.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/path.hpp"
#include "base/text.hpp"
#include "job/confined_files.hpp"
#include "job/file_names.hpp"
#include "model/open.hpp"
#include "spec/field_reader.hpp"
#include "spec/tolerance_reader.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;
using Kind = json::Value::Kind;

constexpr std::size_t id_bytes_max = 200;

// The most tags, and the most golden files, of one job.
constexpr std::size_t entries_max = 4096;

// What is wrong with an id. It names a folder below --out, and it is printed.
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
  const bool has_empty_part = id.find("//") != std::string::npos;
  for (const fs::path& part : to_path(id)) {
    if (has_empty_part || part == ".." || part == "." || part == "/" || part.empty() ||
        part.has_root_name())
      return "names a folder below --out and must not have empty parts, \".\" or \"..\"";
  }
  return "";
}

bool refuse_long(FieldReader& reader, const json::Document& document, const json::Value& value,
                 const std::string& name, std::size_t entries) {
  if (entries <= entries_max) return false;
  reader.add(document.at(value, name + " has " + std::to_string(entries) +
                                    " entries, must have at most " + std::to_string(entries_max)));
  return true;
}

void read_tags(BatchJob& job, FieldReader& reader, const json::Document& document,
               const json::Value& value) {
  if (value.kind != Kind::array) {
    reader.expected(value, "tags", "an array of strings");
    return;
  }
  if (refuse_long(reader, document, value, "tags", value.items.size())) return;
  const auto is_text = [](const json::Value& item) { return item.kind == Kind::string; };
  const auto wrong = std::find_if_not(value.items.begin(), value.items.end(), is_text);
  if (wrong != value.items.end())
    reader.expected(*wrong, "tags[" + std::to_string(wrong - value.items.begin()) + "]",
                    "a string");
  for (const json::Value& item : value.items) job.tags.push_back(item.text);
}

/// Reads the fields that belong to the job and not to its description.
class JobReader {
 public:
  JobReader(BatchJob& job, const json::Value& root)
      : job_(job), root_(root), reader_(*job.document, job.findings) {}

  void read(const std::string& made_up_name, const ManifestSource& source) {
    job_.id = job_.made_up_id = source.id_of(made_up_name);
    if (root_.kind != Kind::object) {
      reader_.expected(root_, "a job", "an object: an op description, with id, expect and so on");
      return;
    }
    if (const json::Value* id = root_.find("id")) read_id(*id, made_up_name, source);
    read_choice(job_, *job_.document, root_);
    if (const json::Value* tolerance = root_.find("tolerance"))
      job_.request.tolerance = read_tolerance(reader_, *tolerance, "tolerance");
    if (const json::Value* expect = root_.find("expect")) read_expect(*expect);
    const json::Value* bindings = root_.find("bindings");
    const json::Value* graph = root_.find("graph");
    const json::Value* type = root_.find(root_.find("type") != nullptr ? "type" : "Type");
    if (graph != nullptr && type != nullptr) {
      reader_.refuse(*graph, "this job has \"graph\" and \"type\"",
                     "a job is that of a graph or of one operator",
                     "leave one of them out; those of \"defaults\" count, too");
    } else if (graph != nullptr) {
      read_graph(*graph, bindings);
    } else if (const json::Member* misnamed = misnamed_graph()) {
      refuse_misnamed(*misnamed);
    } else if (bindings != nullptr && job_.request.confinement) {
      check_bindings(*bindings);
    }
  }

 private:
  void read_id(const json::Value& value, const std::string& made_up_name,
               const ManifestSource& source) {
    const auto id = reader_.string(value, "id");
    if (!id) return;
    const std::string problem = *id == made_up_name ? "" : id_problem(*id);
    if (!problem.empty()) {
      reader_.add(job_.document->at(value, "the id \"" + printable(*id) + "\" " + problem));
    } else {
      job_.id = source.id_of(*id);
      job_.has_own_id = true;
    }
  }

  // Reads a path, or a path for each output.
  void read_expect(const json::Value& value) {
    const auto add = [&](const std::string& tensor, const json::Value& path,
                         const std::string& name) {
      if (const auto file = read_file(path, name, "the path of a .npy file"))
        job_.request.expected.push_back(
            {tensor, file->path, job_.request.confinement, {}, file->raw});
    };
    if (value.kind != Kind::object) return add("", value, "expect");
    if (refuse_long(reader_, *job_.document, value, "expect", value.members.size())) return;
    for (const json::Member& member : value.members)
      add(member.name, member.value, "expect." + printable(member.name));
  }

  // What a job without an operator may mean by another field: "model": "net.onnx".
  const json::Member* misnamed_graph() const {
    const bool is_something = root_.find("type") != nullptr || root_.find("Type") != nullptr ||
                              is_model(root_) || is_graph(root_);
    if (is_something) return nullptr;
    const auto names_graph = [](const json::Member& member) {
      if (member.value.kind != Kind::string || std::ranges::count(batch_job_fields(), member.name))
        return false;
      const std::string extension = lower_extension(member.value.text);
      return extension == ".onnx" || extension == ".bin" || extension == ".json";
    };
    const auto found = std::ranges::find_if(root_.members, names_graph);
    return found == root_.members.end() ? nullptr : &*found;
  }

  void refuse_misnamed(const json::Member& member) {
    Diagnostic finding =
        job_.document->at(member, "a job has no field \"" + printable(member.name) + "\"");
    finding.rule = "\"graph\" names the graph or the ONNX model of a job";
    finding.suggestion = "write \"graph\" in place of \"" + printable(member.name) + "\"";
    reader_.add(std::move(finding));
  }

  // A job may name a graph instead of having a description, and the files of its inputs and
  // outputs.
  void read_graph(const json::Value& graph, const json::Value* bindings) {
    std::vector<std::string> known = batch_job_fields();
    known.insert(known.end(), {"$schema", "graph", "bindings"});
    known.insert(known.end(), onnx_job_fields().begin(), onnx_job_fields().end());
    reader_.refuse_unknown(root_, known, "a job with a graph");
    if (const auto path = read_path(graph, "graph", "the path of a graph"))
      job_.request.description_path = *path;
    if (const json::Value* dimensions = root_.find("dimensions")) read_dimensions(*dimensions);
    if (const json::Value* fuse = root_.find("fuse"))
      job_.fuses = reader_.boolean(*fuse, "fuse").value_or(false);
    if (bindings != nullptr) read_bindings(*bindings);
  }

  void read_dimensions(const json::Value& value) {
    if (value.kind != Kind::object) {
      reader_.expected(value, "dimensions", "an object of sizes by the names of dimensions");
      return;
    }
    if (refuse_long(reader_, *job_.document, value, "dimensions", value.members.size())) return;
    for (const json::Member& member : value.members) {
      const auto size = reader_.uint(member.value, "dimensions." + printable(member.name));
      if (size) job_.dimensions[member.name] = *size;
    }
  }

  void read_bindings(const json::Value& value) {
    if (value.kind != Kind::object) {
      reader_.expected(value, "bindings", "an object of .npy files by input or output");
      return;
    }
    if (refuse_long(reader_, *job_.document, value, "bindings", value.members.size())) return;
    for (const json::Member& member : value.members) {
      const std::string name = "bindings." + printable(member.name);
      if (member.value.kind == Kind::object) {
        NamedFile made_up{member.name, "", {}};
        made_up.random = read_random_numbers(reader_, member.value, name);
        if (made_up.random) made_up.path = name_of(*made_up.random);
        if (made_up.random) job_.request.inputs.push_back(std::move(made_up));
        continue;
      }
      if (const auto file = read_file(member.value, name, "the path of a .npy file"))
        job_.request.inputs.push_back(
            {member.name, file->path, job_.request.confinement, {}, file->raw});
    }
  }

  // A file, .npy or raw, from the job's own place.
  std::optional<FileText> read_file(const json::Value& value, const std::string& name,
                                    const char* what) {
    try {
      FileText file;
      if (value.kind == Kind::string) file = parse_file_text(value.text);
      const auto path = read_path(value, name, what, file.path);
      if (!path) return std::nullopt;
      return FileText{*path, file.raw};
    } catch (const Error& error) {
      reader_.add(job_.document->at(value, name + ": " + error.what()));
      return std::nullopt;
    }
  }

  std::optional<std::string> read_path(const json::Value& value, const std::string& name,
                                       const char* what) {
    return read_path(value, name, what, value.text);
  }

  // A path that is the value or its beginning.
  std::optional<std::string> read_path(const json::Value& value, const std::string& name,
                                       const char* what, const std::string& written) {
    auto text = reader_.string(value, name);
    if (!text) return std::nullopt;
    text = written;
    if (text->empty() || *text == "-" || text->find('\0') != std::string::npos) {
      reader_.expected(value, name, what);
      return std::nullopt;
    }
    const std::string path = path_beside(job_.document->file(), *text);
    return is_confined(value, name, *text, path) ? std::optional(path) : std::nullopt;
  }

  // Checks the paths of the description, so that all refusals are reported at once.
  void check_bindings(const json::Value& bindings) {
    for (const json::Member& member : bindings.members) {
      const json::Value& path = member.value;
      if (path.kind != Kind::string) continue;
      const std::string file = path_of(path.text);
      if (file.empty()) continue;
      is_confined(path, "bindings." + printable(member.name), file,
                  path_beside(job_.document->file(), file));
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

}  // namespace

void read_choice(BatchJob& job, const json::Document& document, const json::Value& root) {
  FieldReader reader(document, job.findings);
  const std::size_t before = job.findings.size();
  if (const json::Value* tags = root.find("tags")) read_tags(job, reader, document, *tags);
  job.has_known_tags = job.findings.size() == before;
  const auto read_reason = [&](const std::string& name, std::string& reason, const char* what) {
    const json::Value* value = root.find(name);
    if (value == nullptr) return;
    if (value->kind == Kind::string) reason = value->text;
    if (reason.empty()) reader.expected(*value, name, what);
  };
  read_reason("skip", job.skip_reason, "the reason why this job is not run");
  read_reason("xfail", job.xfail_reason, "the reason why this job differs from its golden files");
}

BatchJob read_job(std::shared_ptr<const json::Document> document,
                  std::shared_ptr<const json::Value> root, const std::string& made_up_name,
                  const ManifestSource& source) {
  BatchJob job;
  job.request.confinement = source.confinement;
  job.line = document->line_of(*root);
  job.place = document->file() + ":" + std::to_string(job.line);
  job.text = document->source(*root);
  job.document = std::move(document);
  job.root = std::move(root);
  JobReader(job, *job.root).read(made_up_name, source);
  return job;
}

const std::vector<std::string>& onnx_job_fields() {
  static const std::vector<std::string> fields{"dimensions", "fuse"};
  return fields;
}

const std::vector<std::string>& batch_job_fields() {
  static const std::vector<std::string> fields{"id",   "expect", "tolerance",
                                               "tags", "skip",   "xfail"};
  return fields;
}

}  // namespace dmlop
