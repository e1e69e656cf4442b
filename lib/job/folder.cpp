#include "job/folder.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "job/confined_files.hpp"
#include "job/file_names.hpp"
#include "spec/field_reader.hpp"
#include "spec/tolerance_reader.hpp"

namespace dmlop {
namespace {

namespace fs = std::filesystem;

// Whether there is an entry of this name, if only a link that leads nowhere.
bool has_entry(const fs::path& path, Diagnostics& diagnostics) {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(path, error).type();
  if (type == fs::file_type::not_found) return false;
  if (!error) return true;
  diagnostics.push_back({.kind = ErrorKind::io_failed,
                         .message = "looking for " + to_text(path) + ": " + reason(error)});
  return false;
}

// What a folder has. One that cannot be listed is a finding: a golden file that was overlooked
// would not be compared.
std::vector<FolderEntry> listed(const fs::path& folder, Diagnostics& diagnostics) {
  std::error_code error;
  const std::string path = folder.empty() ? "." : to_text(folder);
  auto entries = entries_of(path, error);
  if (error)
    diagnostics.push_back(
        {.kind = ErrorKind::io_failed, .message = "listing " + path + ": " + reason(error)});
  return entries;
}

std::vector<NamedFile> npy_files_of(const fs::path& folder, const std::vector<FolderEntry>& entries,
                                    const SharedConfinement& confinement,
                                    Diagnostics& diagnostics) {
  std::vector<NamedFile> files;
  for (const FolderEntry& entry : entries) {
    const fs::path name = to_path(entry.name);
    if (name.extension() != ".npy" || name == "expected.npy") continue;
    const std::string path = to_text(folder / name);
    // Where files are confined, only those that are used are looked at.
    if (const auto problem = confinement ? std::nullopt : problem_of_found(path, confinement)) {
      diagnostics.push_back(*problem);
    } else {
      files.push_back({to_text(name.stem()), path, confinement});
      files.back().is_found = true;
    }
  }
  std::sort(files.begin(), files.end(),
            [](const NamedFile& a, const NamedFile& b) { return a.tensor < b.tensor; });
  return files;
}

std::vector<std::string> tensors(const OperatorSpec& spec, bool (FieldSpec::*is_one)() const) {
  std::vector<std::string> names;
  for (const FieldSpec& field : spec.fields) {
    if ((field.*is_one)()) names.push_back(field.name);
  }
  return names;
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether a command line names a file for the tensor; one without a name is the only tensor's.
bool is_named(const std::vector<NamedFile>& files, const std::string& tensor,
              const std::vector<std::string>& tensors) {
  return std::any_of(files.begin(), files.end(), [&](const NamedFile& file) {
    return file.tensor.empty() ? tensors.size() == 1 : field_of_file(file.tensor) == tensor;
  });
}

bool is_bound(const Description& description, const std::string& tensor) {
  const auto& bindings = description.bindings;
  return std::any_of(bindings.begin(), bindings.end(),
                     [&](const Binding& binding) { return binding.tensor == tensor; });
}

void add_inputs(JobRequest& request, const Description& description) {
  const auto inputs = tensors(*description.spec, &FieldSpec::is_input);
  const std::vector<NamedFile> named = request.inputs;
  for (const NamedFile& file : request.found.inputs) {
    const std::string field = field_of_file(file.tensor);
    const bool is_wanted =
        has(inputs, field) && !is_bound(description, field) && !is_named(named, field, inputs);
    if (is_wanted) request.inputs.push_back(file);
  }
}

// A command line may write "OutputTensors[1]" for "OutputTensors.1".
std::string with_dot(std::string name) {
  const std::size_t mark = name.rfind('[');
  if (mark == std::string::npos || !name.ends_with(']')) return name;
  name.pop_back();
  name[mark] = '.';
  return name;
}

// Golden files that are to be written belong into the folder.
void add_golden_files(JobRequest& request, const Description& description,
                      const std::vector<NamedFile>& found) {
  const auto outputs = tensors(*description.spec, &FieldSpec::is_output);
  const std::vector<NamedFile> named = request.expected;
  for (const NamedFile& file : found) {
    const std::string field =
        file.tensor.empty() && outputs.size() == 1 ? outputs.front() : field_of_file(file.tensor);
    if (!is_named(named, field, outputs)) request.expected.push_back(file);
  }
  if (!request.expected_may_be_missing || request.found.golden_folder.empty()) return;
  for (const std::string& name : output_file_names(description, request)) {
    const auto is_it = [&](const NamedFile& file) {
      return file.tensor.empty() ? outputs.size() == 1 : with_dot(file.tensor) == name;
    };
    if (std::any_of(request.expected.begin(), request.expected.end(), is_it)) continue;
    const fs::path path = to_path(request.found.golden_folder) / to_path(name + ".npy");
    request.expected.push_back({name, to_text(path), request.confinement});
  }
}

// A name without what people add or leave out: "Input_Tensor" and "input" are "input".
std::string bare_name(const std::string& name) {
  std::string bare;
  for (const char letter : name) {
    const auto c = static_cast<unsigned char>(letter);
    if (std::isalnum(c) != 0) bare += static_cast<char>(std::tolower(c));
  }
  constexpr std::string_view word = "tensor";
  const std::size_t at = bare.find(word);
  return at == std::string::npos || bare.size() == word.size() ? bare : bare.erase(at, word.size());
}

bool may_be_meant(const std::string& name, const std::string& tensor) {
  const std::string a = bare_name(name), b = bare_name(tensor);
  return !a.empty() && (a.starts_with(b) || b.starts_with(a) || nearest_name(a, {b}) == b);
}

bool is_nearly(const std::string& name, const std::string& tensor) {
  const std::string lower = lower_case(tensor);
  return bare_name(name) == bare_name(tensor) || nearest_name(lower_case(name), {lower}) == lower;
}

// Whether a name was meant to be an output's; copies have longer names, OutputTensor_old.
bool is_slip(const std::string& name, const std::string& output, const OperatorSpec& spec) {
  if (output.empty() || name.starts_with('.') || name.starts_with(output)) return false;
  const std::size_t longest = std::max(name.size(), output.size());
  return longest - std::min(name.size(), output.size()) <= 1 && spec.find_field(name) == nullptr;
}

// A model's files may lie in the same folder.
bool has_model_beside(const std::string& description_path) {
  std::error_code error;
  return fs::exists(to_path(description_path).parent_path() / "model.json", error);
}

/// What is to be said of golden files whose names are no output's.
class StrayGoldenFiles {
 public:
  StrayGoldenFiles(const OperatorSpec& spec, bool has_golden)
      : spec_(spec), outputs_(tensors(spec, &FieldSpec::is_output)), has_golden_(has_golden) {}

  bool is_golden(const NamedFile& file) const {
    return file.tensor.empty() || has(outputs_, field_of_file(file.tensor));
  }
  bool hides_difference(const NamedFile& file) const {
    return !has_golden_ || is_slip(file.tensor, nearest(file), spec_);
  }
  // Neither a copy nor another tensor's.
  bool looks_meant(const NamedFile& file) const {
    const auto is_copy = [&](const std::string& output) { return file.tensor.starts_with(output); };
    return !file.tensor.starts_with('.') && spec_.find_field(file.tensor) == nullptr &&
           std::none_of(outputs_.begin(), outputs_.end(), is_copy);
  }
  Diagnostic finding(const NamedFile& file) const {
    const std::string name = nearest(file);
    return {.file = file.path,
            .message = "this golden file matches no output of " + spec_.name,
            .rule = "NAME.npy in a folder expected/ is compared with the output NAME",
            .suggestion =
                name.empty() ? "outputs: " + join(outputs_) : "did you mean " + name + ".npy?"};
  }

 private:
  std::string nearest(const NamedFile& file) const {
    const std::string near = nearest_name(file.tensor, outputs_);
    const auto is_meant = [&](const std::string& output) {
      return near.empty() ? may_be_meant(file.tensor, output) : output == near;
    };
    const auto meant = std::find_if(outputs_.begin(), outputs_.end(), is_meant);
    return meant == outputs_.end() ? "" : *meant;
  }

  const OperatorSpec& spec_;
  std::vector<std::string> outputs_;
  bool has_golden_;
};

// Those of the golden files that are found which are the operator's.
std::vector<NamedFile> golden_files_of(const JobRequest& request, const Description& description,
                                       Diagnostics& diagnostics, Diagnostics& warnings) {
  const auto& found = request.found.expected;
  const auto is_golden = [&](const NamedFile& file) {
    return StrayGoldenFiles(*description.spec, true).is_golden(file);
  };
  const bool has_golden = std::any_of(found.begin(), found.end(), is_golden);
  const StrayGoldenFiles strays(*description.spec, has_golden);
  const bool has_stray = !std::all_of(found.begin(), found.end(), is_golden);
  const bool has_model = has_stray && has_model_beside(request.description_path);
  std::vector<NamedFile> golden;
  for (const NamedFile& file : found) {
    if (is_golden(file)) {
      golden.push_back(file);
    } else if (!has_model && request.compares_with_found && strays.hides_difference(file)) {
      diagnostics.push_back(strays.finding(file));
    } else if (!has_model && strays.looks_meant(file)) {
      warnings.push_back(strays.finding(file));
    }
  }
  return golden;
}

void warn_of_misnamed_inputs(const JobRequest& request, const Description& description,
                             Diagnostics& warnings) {
  const auto inputs = tensors(*description.spec, &FieldSpec::is_input);
  for (const std::string& input : inputs) {
    const bool has_file = is_bound(description, input) || is_named(request.inputs, input, inputs);
    const std::string path = has_file ? "" : misnamed_input(request, description, input, false);
    if (path.empty()) continue;
    warnings.push_back({.file = path,
                        .message = "this file is not used: no tensor of " + description.spec->name +
                                   " has its name",
                        .rule = "NAME.npy beside a description is the input NAME",
                        .suggestion = "did you mean " + input + ".npy?"});
  }
}

// The part of a job that a name in its folder is nearly; "" where it is none, or is that part.
std::string meant_part(const FolderEntry& entry) {
  const std::vector<std::string> parts{"expected", "expected.npy", "tol.json", "job.json"};
  const std::string lower = lower_case(entry.name);
  if (has(parts, entry.name)) return "";
  if (has(parts, lower)) return lower;
  if (lower == "tolerance.json") return "tol.json";
  const bool is_slip = lower == "expect" || (lower.size() + 1 >= parts[0].size() &&
                                             lower.size() <= parts[0].size() + 1 &&
                                             nearest_name(lower, {parts[0]}) == parts[0]);
  return entry.kind == EntryKind::folder && is_slip ? parts[0] : "";
}

// Adds golden files whose extension is nearly .npy.
void find_misnamed_golden(const fs::path& folder, const std::vector<FolderEntry>& entries,
                          FolderFiles& files) {
  for (const FolderEntry& entry : entries) {
    const fs::path name = to_path(entry.name);
    const std::string extension = to_text(name.extension());
    if (extension != ".npy" && lower_case(extension) == ".npy")
      files.misnamed.push_back({to_text(folder / name), to_text(name.stem()) + ".npy"});
  }
}

// Adds what else in the folder has nearly the name of a part of a job that is not there.
void find_misnamed(const fs::path& folder, const std::vector<FolderEntry>& entries,
                   FolderFiles& files, Diagnostics& diagnostics) {
  for (const FolderEntry& entry : entries) {
    const std::string meant = meant_part(entry);
    if (!meant.empty() && !has_entry(folder / meant, diagnostics))
      files.misnamed.push_back({to_text(folder / to_path(entry.name)), meant});
  }
}

// A golden file that is overlooked would let a job pass or, with --update-golden, be made anew.
void report_misnamed(const JobRequest& request, Diagnostics& diagnostics, Diagnostics& warnings) {
  for (const MisnamedPart& part : request.found.misnamed) {
    const bool hides_golden = request.compares_with_found && !part.meant.ends_with(".json");
    (hides_golden ? diagnostics : warnings)
        .push_back(
            {.file = part.path,
             .message = "this is not used, as its name is not " + part.meant,
             .rule =
                 "beside a description, expected/ or expected.npy has the golden files, tol.json "
                 "the tolerance, and job.json says how a batch treats the job",
             .suggestion = "rename it to " + part.meant});
  }
}

}  // namespace

namespace {

// Partition_0.bin, as ONNX Runtime calls the graphs that it serializes.
bool is_partition(const std::string& name) {
  constexpr std::string_view begin = "Partition_", end = ".bin";
  if (!name.starts_with(begin) || !name.ends_with(end)) return false;
  const std::string_view number =
      std::string_view(name).substr(begin.size(), name.size() - begin.size() - end.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> output_file_names(const Description& description,
                                           const JobRequest& request) {
  std::vector<std::string> names;
  for (const std::string& output : tensors(*description.spec, &FieldSpec::is_output)) {
    const Field& field = *description.find(output);
    const std::size_t before = names.size();
    const auto* elements = std::get_if<std::vector<TensorDesc>>(&field.value);
    for (std::size_t i = 0; elements != nullptr && i < elements->size(); ++i)
      names.push_back(output + "." + std::to_string(i));
    if (!field.spec->is_tensor_array() && !field.is_absent()) names.push_back(output);
    if (names.size() > before || field.written != nullptr) continue;
    for (const auto* files : {&request.expected, &request.found.expected}) {
      for (const NamedFile& file : *files) {
        if (field_of_file(file.tensor) == output && !has(names, file.tensor))
          names.push_back(file.tensor);
      }
    }
  }
  return names;
}

bool is_onnx_test(const std::string& description_path) {
  const fs::path path = to_path(description_path);
  std::error_code error;
  return to_text(path.filename()) == "model.onnx" &&
         fs::is_directory(path.parent_path() / "test_data_set_0", error);
}

bool has_job_folder(const std::string& description_path) {
  const std::string name = to_text(to_path(description_path).filename());
  return std::ranges::find(description_names, name) != description_names.end() ||
         is_partition(name) || is_onnx_test(description_path);
}

std::string description_in(const std::string& folder) {
  for (const std::string_view name : description_names) {
    std::error_code error;
    const fs::path path = to_path(folder) / name;
    if (fs::exists(path, error)) return to_text(path);
  }
  const std::vector<std::string> partitions = partitions_in(folder);
  return partitions.size() == 1 ? partitions.front() : "";
}

std::string text_without_description(const std::string& folder) {
  return folder +
         " has no op.json, no model.json, no graph.json, no Partition_N.bin and no model.onnx";
}

std::vector<std::string> partitions_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const FolderEntry& entry : entries_of(folder, ignored)) {
    if (std::ranges::find(description_names, entry.name) != description_names.end()) return {};
    if (is_partition(entry.name)) names.push_back(entry.name);
  }
  std::ranges::sort(names, [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);  // by their numbers
  });
  for (std::string& name : names) name = to_text(to_path(folder) / to_path(name));
  return names;
}

bool has_graphs_beside(const std::string& graph_path) {
  const std::string name = to_text(to_path(graph_path).filename());
  if (name != "graph.json" && !is_partition(name)) return false;
  const fs::path folder = to_path(graph_path).parent_path();
  std::error_code ignored;
  const auto entries = entries_of(folder.empty() ? "." : to_text(folder), ignored);
  return std::count_if(entries.begin(), entries.end(), [](const FolderEntry& entry) {
           return entry.name == "graph.json" || is_partition(entry.name);
         }) > 1;
}

void add_description(FileRoles& files, const std::string& path, const std::string& role) {
  files.add(path, role);
  if (path.empty() || is_standard_input(path)) return;
  const fs::path folder = to_path(path).parent_path();
  files.add(to_text(folder / "tol.json"), "the tolerances");
  files.add(to_text(folder / "job.json"), "the settings of the job");
}

FolderFiles files_beside(const std::string& description_path, const SharedConfinement& confinement,
                         Diagnostics& diagnostics) {
  FolderFiles files;
  if (!has_job_folder(description_path)) return files;
  const fs::path folder = to_path(description_path).parent_path();
  const auto entries = listed(folder, diagnostics);
  files.inputs = npy_files_of(folder, entries, confinement, diagnostics);
  files.golden_folder = to_text(folder / "expected");
  if (has_entry(folder / "expected", diagnostics)) {
    const auto golden = listed(folder / "expected", diagnostics);
    files.expected = npy_files_of(folder / "expected", golden, confinement, diagnostics);
    find_misnamed_golden(folder / "expected", golden, files);
  }
  find_misnamed(folder, entries, files, diagnostics);
  if (has_entry(folder / "expected.npy", diagnostics))
    files.expected.push_back({"", to_text(folder / "expected.npy"), confinement});
  return files;
}

std::optional<Tolerance> tolerance_beside(const std::string& description_path,
                                          const SharedConfinement& confinement,
                                          Diagnostics& diagnostics) {
  if (!has_job_folder(description_path)) return std::nullopt;
  const fs::path file = to_path(description_path).parent_path() / "tol.json";
  if (!has_entry(file, diagnostics)) return std::nullopt;
  const std::string path = to_text(file);
  if (const auto problem = problem_of_found(path, confinement)) {
    diagnostics.push_back(*problem);
    return std::nullopt;
  }
  try {
    std::string text = with_context("reading " + path,
                                    [&] { return json::read_text(PinnedFile(confinement, path)); });
    const auto document = json::Document::parse(path, std::move(text), diagnostics);
    if (!document) return std::nullopt;
    FieldReader reader(*document, diagnostics);
    return read_tolerance(reader, document->root(), "tol.json");
  } catch (const Error& error) {
    diagnostics.push_back(finding_of(error));
    return std::nullopt;
  }
}

JobRequest with_files_found(const JobRequest& request, const Description& description,
                            Diagnostics& diagnostics, Diagnostics& warnings) {
  JobRequest complete = request;
  add_inputs(complete, description);
  const auto golden = golden_files_of(request, description, diagnostics, warnings);
  if (request.compares_with_found) add_golden_files(complete, description, golden);
  warn_of_misnamed_inputs(complete, description, warnings);
  report_misnamed(request, diagnostics, warnings);
  return complete;
}

std::string misnamed_input(const JobRequest& request, const Description& description,
                           const std::string& input, bool is_needed) {
  const bool is_optional = description.spec->find_field(input)->optional;
  if (request.found.inputs.empty() || (is_needed && is_optional)) return "";
  if (has_model_beside(request.description_path)) return "";
  const auto is_used = [&](const NamedFile& file) {
    const auto names_it = [&](const Binding& binding) {
      return path_beside(description.file(), binding.path) == file.path;
    };
    return description.spec->find_field(field_of_file(file.tensor)) != nullptr ||
           std::any_of(description.bindings.begin(), description.bindings.end(), names_it);
  };
  std::vector<NamedFile> unused;
  for (const NamedFile& file : request.found.inputs) {
    if (!is_used(file)) unused.push_back(file);
  }
  // What may be left out is missed only where a file has nearly its name.
  const auto is_meant = [&](const NamedFile& file) {
    return is_optional ? is_nearly(file.tensor, input) : may_be_meant(file.tensor, input);
  };
  const auto meant = std::find_if(unused.begin(), unused.end(), is_meant);
  if (meant != unused.end()) return meant->path;
  return is_needed && unused.size() == 1 ? unused.front().path : "";
}

}  // namespace dmlop
