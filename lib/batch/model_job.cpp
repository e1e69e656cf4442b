#include "batch/model_job.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/file.hpp"
#include "base/path.hpp"
#include "base/system_file.hpp"
#include "base/text.hpp"
#include "batch/record_json.hpp"
#include "graph/edge_names.hpp"
#include "graph/models.hpp"
#include "job/confined_files.hpp"
#include "job/file_names.hpp"
#include "job/folder.hpp"
#include "job/golden.hpp"
#include "model/run_commands.hpp"
#include "model/runtime.hpp"
#include "model/write_file.hpp"

namespace dmlop {

std::optional<ModelJob> ModelJob::prepare(std::shared_ptr<const json::Document> document,
                                          const json::Value& root, const BatchJob& job,
                                          const BatchOptions& options, Diagnostics& findings,
                                          Diagnostics& warnings) {
  ModelRequest request{.checking = options.checking, .confinement = job.request.confinement};
  if (job.document) request.beside = batch_job_fields();
  if (!options.output_folder.empty())
    request.output_folder = to_text(to_path(options.output_folder) / to_path(job.id));
  check_confined(job.request.expected, findings);
  check_confined(job.request.found.expected, findings);
  if (!findings.empty()) return std::nullopt;
  Digest source;
  source.add(document->source(root));
  auto model = read_model_with_graphs(std::move(document), root, request, findings, warnings);
  if (!model) return std::nullopt;
  ModelJob prepared;
  prepared.model_ = std::move(*model);
  prepared.tolerance_ = job.request.tolerance;
  prepared.source_digest_ = source.text();
  prepared.writes_ = request.output_folder.has_value();
  if (options.against == nullptr) prepared.find_expected(job, findings);
  if (job.request.expected_may_be_missing) prepared.expect_results(job, findings);
  prepared.refuse_replaced_files(job, findings);
  if (options.update_golden != UpdateGolden::no) prepared.refuse_inputs(findings);
  return findings.empty() ? std::optional(std::move(prepared)) : std::nullopt;
}

std::optional<ModelJob> ModelJob::prepare(const Graph& graph, const std::vector<NamedFile>& given,
                                          const BatchJob& job, const BatchOptions& options,
                                          Diagnostics& findings, Diagnostics& warnings) {
  check_confined(job.request.expected, findings);
  check_confined(job.request.found.expected, findings);
  if (!findings.empty()) return std::nullopt;
  const GraphRequest request{.checking = options.checking, .confinement = job.request.confinement};
  auto lowered = lower_graph(graph, request, findings, warnings);
  if (!lowered) return std::nullopt;
  JobRequest files{.inputs = {}, .found = job.request.found, .is_of_batch = true};
  std::vector<NamedFile> outputs;
  for (const NamedFile& file : job.request.inputs) {
    if (std::ranges::find(given, file.tensor, &NamedFile::tensor) != given.end()) continue;
    const bool is_input = std::ranges::find(graph.inputs, file.tensor) != graph.inputs.end();
    (is_input ? files.inputs : outputs).push_back(file);
  }
  bind_inputs(*lowered, files, findings);
  ModelJob prepared;
  prepared.model_ = std::move(lowered->model);
  for (const NamedFile& file : given)
    prepared.model_.sources.push_back({file.path, "the file of " + printable(file.tensor)});
  prepared.tolerance_ = job.request.tolerance;
  prepared.source_digest_ = digest_of_file(graph.file);
  const bool has_folder = !options.output_folder.empty();
  prepared.add_outputs(
      outputs,
      has_folder ? to_text(to_path(options.output_folder) / to_path(job.id)) : std::string(),
      findings);
  if (options.against == nullptr) prepared.find_expected(job, findings);
  if (job.request.expected_may_be_missing) prepared.expect_results(job, findings);
  prepared.refuse_replaced_files(job, findings);
  if (options.update_golden != UpdateGolden::no) prepared.refuse_inputs(findings);
  return findings.empty() ? std::optional(std::move(prepared)) : std::nullopt;
}

// The files of outputs: those of the bindings or, with a folder, one in it for each output.
void ModelJob::add_outputs(const std::vector<NamedFile>& bound, const std::string& folder,
                           Diagnostics& findings) {
  std::vector<NamedFile> files = bound;
  if (!folder.empty()) {
    files.clear();
    std::error_code error;
    std::filesystem::create_directories(to_path(folder), error);
    if (error) fail_io("creating " + folder + ": " + reason(error));
    for (const std::size_t output : model_.outputs) {
      const std::string& name = model_.resources[output].name;
      files.push_back({name, to_text(to_path(folder) / to_path(safe_file_name(name) + ".npy"))});
    }
  }
  written_ = name_resources(model_, files, "bindings", /*golden=*/false, findings);
}

// The command that writes a file of this name: its target as written, or without folder and
// extension.
std::optional<std::size_t> ModelJob::write_named(const std::string& name) const {
  for (std::size_t i = 0; i < model_.commands.size(); ++i) {
    const auto* write = std::get_if<WriteFileCommand>(&model_.commands[i]);
    if (write == nullptr) continue;
    if (write->target == name || to_text(to_path(write->path).stem()) == name) return i;
  }
  return std::nullopt;
}

void ModelJob::find_expected(const BatchJob& job, Diagnostics& findings) {
  std::vector<NamedFile> files = job.request.expected;
  const bool is_of_one = !has_graphs_beside(job.request.description_path);
  for (const NamedFile& file : job.request.found.expected) {
    // The golden files of a folder with several graphs are those of one or another.
    if (is_of_one || model_.find_resource(edge_named(file.tensor)) != nullptr)
      files.push_back(file);
  }
  for (NamedFile file : files) {
    if (!model_.words.has_commands) file.tensor = edge_named(file.tensor);
    const bool is_missing = job.request.expected_may_be_missing && is_absent(file.path);
    std::optional<std::size_t> command;
    if (!file.tensor.empty() && model_.find_resource(file.tensor) == nullptr) {
      command = write_named(file.tensor);
      if (command) {
        const auto& write = std::get<WriteFileCommand>(model_.commands[*command]);
        file.tensor = model_.resources[write.resource].name;
      }
    }
    for (NamedResource& named :
         name_resources(model_, {file}, "expect", /*golden=*/!is_missing, findings))
      expected_.push_back({std::move(named), command});
  }
}

// The edge whose file has this name.
std::string ModelJob::edge_named(const std::string& name) const {
  const auto is_its = [&](const Resource& resource) {
    return resource.name == name || safe_file_name(resource.name) == name;
  };
  const auto edge = std::find_if(model_.resources.begin(), model_.resources.end(), is_its);
  return edge == model_.resources.end() ? name : edge->name;
}

// What the model computes and no golden file is for gets one in the folder.
void ModelJob::expect_results(const BatchJob& job, Diagnostics& findings) {
  const std::string& golden_folder = job.request.found.golden_folder;
  if (golden_folder.empty()) return;
  for (const std::size_t resource : results_of(model_)) {
    const auto is_it = [&](const Expected& other) { return other.file.resource == resource; };
    if (std::any_of(expected_.begin(), expected_.end(), is_it)) continue;
    const std::string& resource_name = model_.resources[resource].name;
    const std::string name =
        (model_.words.has_commands ? resource_name : safe_file_name(resource_name)) + ".npy";
    const std::string path = to_text(to_path(golden_folder) / to_path(name));
    check_confined({{resource_name, path, job.request.confinement}}, findings);
    expected_.push_back({{resource, path}, {}});
  }
}

// No file of the job may be replaced by what it writes.
void ModelJob::refuse_replaced_files(const BatchJob& job, Diagnostics& findings) const {
  FileRoles files = roles_of(model_);
  if (job.document) files.add(job.document->file(), "the file that lists the job");
  const bool updates = job.request.expected_may_be_missing;
  for (const NamedFile& golden : golden_files()) {
    if (updates && files.role_of(golden.path) == golden_role)
      findings.push_back(
          {.kind = ErrorKind::usage,
           .file = model_.file,
           .message = golden.tensor + " has the golden file of another output: " + golden.path,
           .suggestion = "name another golden file, as --update-golden may replace "
                         "it"});
    files.add(golden.path, golden_role);
  }
  if (writes_) refuse_replaced_by_commands(model_, files, findings);
  refuse_replaced(model_, written_, files, findings);
}

// A golden file that may be replaced must not be what the model reads.
void ModelJob::refuse_inputs(Diagnostics& findings) const {
  const FileRoles files = roles_of(model_);
  for (const NamedFile& golden : golden_files()) {
    const std::string role = files.role_of(golden.path);
    if (role.empty()) continue;
    findings.push_back(
        {.file = model_.file,
         .message = "the golden file and " + role + " are the same file: " + golden.path,
         .suggestion = "name another golden file, as --update-golden may replace it"});
  }
}

std::string ModelJob::reason_of_uncompared() const {
  if (!outputs().empty() || !expected_.empty()) return "";
  if (model_.words.has_commands)
    return "no file is kept and no resource compared: add golden files by resource (expect, or "
           "RESOURCE.npy in a folder expected/), or a writeFile to the model, and use --out";
  const std::string first = model_.outputs.empty()
                                ? "OUTPUT"
                                : safe_file_name(model_.resources[model_.outputs.front()].name);
  return reason_without(first);
}

std::string ModelJob::operator_name() const {
  return join(operators_of(model_));
}

std::vector<NamedFile> ModelJob::golden_files() const {
  std::vector<NamedFile> files;
  for (const Expected& expected : expected_)
    files.push_back({model_.resources[expected.file.resource].name, expected.file.path});
  return files;
}

std::vector<NamedFile> ModelJob::outputs() const {
  std::vector<NamedFile> files;
  for (const NamedResource& output : written_)
    files.push_back({model_.resources[output.resource].name, output.path});
  for (const ModelCommand& command : model_.commands) {
    const auto* write = std::get_if<WriteFileCommand>(&command);
    if (write != nullptr && writes_) files.push_back({write->target, write->path});
  }
  return files;
}

void ModelJob::add_to(Digest& digest, const Checking& checking) {
  digest.add(source_digest_);
  digest.add(checking.feature_level ? to_text(*checking.feature_level) : "");
  std::set<std::string> opened;  // files whose bytes are at hand
  for (const Resource& resource : model_.resources) {
    const InitialValues& initial = resource.initial;
    if (initial.path.empty() || (!initial.file && initial.raw.empty())) continue;
    opened.insert(initial.path);
    digest.add(resource.name);
    digest.add(initial.file ? array_digest_of(*initial.file) : digest_of(initial.raw));
  }
  for (const SourceFile& source : model_.sources) {
    if (opened.insert(source.path).second) digest.add(digest_of_file(source.path));
  }
  for (const Expected& expected : expected_) {
    digest.add(model_.resources[expected.file.resource].name);
    digest.add(expected.file.golden ? array_digest_of(*expected.file.golden) : "missing");
    digest.add(tolerance_ ? to_text(*tolerance_) : "");
    digest.add(tolerance_ && tolerance_->allow_trivial ? "trivial" : "");
  }
}

// The comparison of a golden file that is to be created.
OutputComparison ModelJob::without_golden(const NamedResource& golden,
                                          const Tolerance& tolerance) const {
  const ResourceTensor tensor = tensor_of(model_, golden.resource);
  return new_golden(model_.resources[golden.resource].name, golden.path, tensor.data_type,
                    tensor.sizes, tolerance);
}

// What the model computes, and what the other device made of it.
void ModelJob::compare_results(Runtime& runtime, Runtime& other, const ResultTolerances& tolerances,
                               JobResult& result) const {
  const std::string device = join(other.devices());
  for (const std::size_t resource : results_of(model_)) {
    const ResourceTensor tensor = tensor_of(model_, resource);
    const Buffer golden = packed_elements(tensor, other.contents(resource));
    result.comparisons.push_back(
        compare_tensor(model_, tensor, Elements(tensor.data_type, tensor.sizes, golden.bytes()),
                       device, runtime.contents(resource), tolerances.of(resource)));
  }
}

// The resources that are compared or written after the last command.
std::vector<std::size_t> ModelJob::used_at_end() const {
  std::vector<std::size_t> used = results_of(model_);
  for (const Expected& expected : expected_) used.push_back(expected.file.resource);
  for (const NamedResource& output : written_) used.push_back(output.resource);
  return used;
}

JobResult ModelJob::run(Backend& backend, const BatchOptions& options, bool updates) {
  Runtime runtime(model_, backend, options.execution);
  std::optional<Runtime> other;
  if (options.against != nullptr) other.emplace(model_, *options.against, options.execution);
  JobResult result;
  const ResultTolerances tolerances(model_, tolerance_);
  const auto compare = [&](const Expected& expected) {
    const std::size_t resource = expected.file.resource;
    const auto contents = runtime.contents(resource);
    const bool is_missing = !expected.file.golden;
    result.comparisons.push_back(
        is_missing ? without_golden(expected.file, tolerances.of(resource))
                   : compare_resource(model_, expected.file, contents, tolerances.of(resource)));
    const bool differs =
        is_missing || result.comparisons.back().comparison.verdict() == Verdict::failed;
    if (updates && differs)
      changes_.push_back(
          {result.comparisons.size() - 1, packed_elements(tensor_of(model_, resource), contents)});
  };
  const auto run = [&](const ModelCommand& command, std::size_t at) {
    if (const auto* dispatch = std::get_if<DispatchCommand>(&command)) {
      const std::string notice = runtime.enqueue(*dispatch);
      if (other) other->enqueue(*dispatch);
      if (result.notice.empty()) result.notice = notice;
    }
    const auto* write = std::get_if<WriteFileCommand>(&command);
    if (write != nullptr && writes_) {
      write_file(model_.resources[write->resource], *write, runtime.contents(write->resource),
                 Fidelity::mended);
    }
    for (const Expected& expected : expected_) {
      if (expected.command == at) compare(expected);
    }
  };
  run_commands(model_, used_at_end(), {&runtime, other ? &*other : nullptr}, run);
  for (const Expected& expected : expected_) {
    if (!expected.command) compare(expected);
  }
  if (other) compare_results(runtime, *other, tolerances, result);
  write_together(model_, written_,
                 [&](std::size_t resource) { return runtime.contents(resource); });
  result.device = join(runtime.devices());
  return result;
}

void ModelJob::update_golden(JobResult& result) {
  const bool may = may_update(result.comparisons);
  for (const Change& change : changes_) {
    OutputComparison& output = result.comparisons[change.comparison];
    const Comparison& comparison = output.comparison;
    const bool is_missing = output.update == GoldenUpdate::created;
    const bool is_trivial = !comparison.tolerance.allow_trivial &&
                            !has_number(comparison.data_type, change.elements.bytes());
    if (!may || is_trivial ||
        equals_nothing(comparison.data_type, change.elements.bytes(), comparison.tolerance)) {
      output.update = GoldenUpdate::refused;
      continue;
    }
    const std::string header = npy_header_bytes(comparison.data_type, comparison.sizes);
    const GoldenFolder folder(output.expected_path);
    OutputFile file(output.expected_path, header.size() + change.elements.size());
    file.write_at(0, std::as_bytes(std::span(header)));
    file.write_at(header.size(), change.elements.bytes());
    file.commit();
    if (!is_missing) output.update = GoldenUpdate::replaced;
  }
}

}  // namespace dmlop
