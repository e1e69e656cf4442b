// What `dmlop check` does with a description or a model and the files beside it. The bytes are
// several files: lines "=== NAME" begin the others, op.json comes first.
// What is valid and small is run, too.
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "folder.hpp"
#include "fuzz/files.hpp"
#include "fuzz/target.hpp"
#include "graph/models.hpp"
#include "job/job.hpp"
#include "model/model.hpp"
#include "model/open.hpp"
#include "model/runtime.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"

namespace dmlop::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_mark = "\n=== ";
constexpr std::size_t files_max = 4;

// A plain name: what is written stays in the workplace.
bool is_name(std::string_view name) {
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.';
  };
  return !name.empty() && name.size() <= 60 && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), is_plain);
}

void write_files(const Folder& folder, std::string_view bytes) {
  std::string name = "op.json";
  for (std::size_t count = 0; count < files_max; ++count) {
    const std::size_t end = bytes.find(file_mark);
    folder.write(name, std::string(bytes.substr(0, end)));
    if (end == bytes.npos) return;
    bytes.remove_prefix(end + file_mark.size());
    const std::size_t line_end = std::min(bytes.find('\n'), bytes.size());
    name = bytes.substr(0, line_end);
    if (!is_name(name) || name == "op.json") return;
    bytes.remove_prefix(std::min(line_end + 1, bytes.size()));
  }
}

constexpr std::uint64_t small = 1 << 14;  // elements or bytes that are computed in no time
constexpr double seconds_max = 0.1;

// Stops what takes long: a window may be larger than what it is taken of.
template <typename Action>
void run_for_a_moment(Action&& action) {
  const Deadline deadline(seconds_max);
  try {
    action();
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::run_failed, "what is valid runs, or takes too long");
  }
}

void run_small(const Model& model) {
  std::uint64_t bytes = 0;
  for (const Resource& resource : model.resources) {
    if (resource.size > small || model.resources.size() > 16) return;
    bytes += resource.size;
  }
  if (bytes > small) return;
  run_for_a_moment([&] {
    Backend cpu;
    Runtime runtime(model, cpu, {.threads = 1});
    for (const ModelCommand& command : model.commands) {
      if (const auto* dispatch = std::get_if<DispatchCommand>(&command))
        runtime.dispatch(*dispatch);
    }
    for (std::size_t i = 0; i < model.resources.size(); ++i)
      require(runtime.contents(i).size() >= model.resources[i].size,
              "a resource has all its bytes");
  });
}

void check_as_model(const OpenedFile& file, Diagnostics& findings) {
  Diagnostics notes;
  const auto model =
      read_model_with_graphs(file.document, file.document->root(), {}, findings, notes);
  require(model.has_value() == findings.empty(), "a model without findings is read, no other");
  for (const Diagnostic& note : notes)
    require(!to_text(note, "warning").empty(), "a note has text");
  if (model) run_small(*model);
}

void run_small(const OpenedFile& file, const JobRequest& request) {
  Diagnostics findings;
  const auto job = prepare_job(file.document, file.root(), request, Purpose::run, findings);
  if (!job) return;
  for (const Slot& slot : make_plan(job->description).slots) {
    if (slot.elements > small) return;
  }
  run_for_a_moment([&] {
    Backend cpu;
    require(outputs_in_memory(*job, cpu, {.threads = 1}).size() != 0, "an output has elements");
  });
}

void check_as_description(const OpenedFile& file, const std::string& path, Diagnostics& findings) {
  const JobRequest request{.description_path = path, .outputs_may_be_dropped = true};
  const auto job = prepare_job(file.document, file.root(), request, Purpose::check, findings);
  require(job.has_value() == findings.empty(), "a job without findings is read, no other");
  if (job) run_small(file, request);
}

void check_file(const std::string& path) {
  Diagnostics findings;
  try {
    const auto file = open_op_or_model(path, findings);
    if (file)
      file->has_model ? check_as_model(*file, findings)
                      : check_as_description(*file, path, findings);
  } catch (const Error& error) {
    require(error.kind() != ErrorKind::run_failed, "nothing is run");
    return;
  }
  for (const Diagnostic& finding : findings)
    require(!finding.message.empty() && !to_text(finding).empty(), "a finding says what is wrong");
}

// A sample's model with the files that it names in other folders.
std::string with_source_files_beside(std::string model) {
  std::string files;
  for (const fs::path& path : files_below(source_path("samples"), "Tensor.npy")) {
    const std::string sample = path.parent_path().filename().string();
    const std::string name = path.filename().string();
    const std::size_t at = model.find("../" + sample + "/" + name);
    if (at == model.npos) continue;
    model.erase(at, 3 + sample.size() + 1);
    files += std::string(file_mark) + name + "\n" + read_file(path);
  }
  return model + files;
}

}  // namespace

void fuzz_check(std::span<const std::byte> bytes) {
  static const Folder folder;
  for (const auto& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
  write_files(folder, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  check_file(folder / "op.json");
}

std::vector<std::string> check_seeds() {
  std::vector<std::string> seeds;
  for (const fs::path& folder : case_folders()) {
    std::string bindings;
    std::string files;
    for (const auto& input : files_below(folder, ".npy")) {
      if (input.parent_path() != folder || input.stem() == "expected") continue;
      const std::string name = input.filename().string();
      bindings +=
          (bindings.empty() ? "\"" : ", \"") + input.stem().string() + "\": \"" + name + "\"";
      files += std::string(file_mark) + name + "\n" + read_file(input);
    }
    std::string description = read_file(folder / "op.json");
    const std::size_t end = description.rfind('}');
    if (description.find("\"bindings\"") == description.npos)
      description.insert(end, ", \"bindings\": {" + bindings + "}");
    seeds.push_back(description + files);
  }
  for (const auto& path : files_below(source_path("samples/dxdispatch"), ".json"))
    seeds.push_back(with_source_files_beside(read_file(path)));
  return seeds;
}

}  // namespace dmlop::test
