// A GPU that fails costs only jobs. Each call to the device fails once, in each way that real ones
// fail. The test checks what is left, and runs another job on the same device.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "base/error.hpp"
#include "batch/batch.hpp"
#include "faulty_device.hpp"
#include "folder.hpp"
#include "gpu_device.hpp"
#include "job/job.hpp"
#include "model.hpp"
#include "model/runtime.hpp"
#include "paths.hpp"

namespace dmlop::test::gpu_fault_test {
namespace {

namespace fs = std::filesystem;

const std::string samples = source_path("samples/");

gpu::Device& opened_gpu() {
  static const std::unique_ptr<gpu::Device> device = open_gpu();
  return *device;
}

/// A backend whose device fails.
struct FaultyBackend {
  GpuFault fault;
  FaultInjector injector;
  Backend backend{make_faulty_device(opened_gpu(), injector)};
};

constexpr std::array faults{GpuFault::out_of_device_memory, GpuFault::out_of_host_memory,
                            GpuFault::device_lost};

/// Lets each call of what `run` does fail, with each fault, instead of the call and after it. The
/// last run with each fault is one that nothing happens to.
template <typename Run>
void with_every_fault(const std::string& what, Run&& run) {
  std::map<std::string, unsigned> injected;
  for (const GpuFault fault : faults) {
    for (const bool afterwards : {false, true}) {
      bool fired = true;
      for (std::uint64_t call = 0; fired; ++call) {
        CAPTURE(what);
        CAPTURE(static_cast<int>(fault));
        CAPTURE(afterwards);
        CAPTURE(call);
        REQUIRE(call < 1000);
        FaultyBackend faulty{.fault = fault, .injector = {}};
        faulty.injector.arm(fault, call, afterwards);
        run(faulty);
        fired = faulty.injector.fired();
        if (fired) ++injected[faulty.injector.call()];
      }
    }
  }
  std::string text;
  unsigned sum = 0;
  for (const auto& [call, count] : injected) {
    text += ", " + std::to_string(count) + " in " + call;
    sum += count;
  }
  CHECK(sum > 0);
  MESSAGE(what << ": " << sum << " faults" << text);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// The message says where it happened and what, in a model behind the operator's name.
void check_message(const FaultyBackend& faulty, const std::string& message) {
  CAPTURE(message);
  if (faulty.fault == GpuFault::out_of_host_memory) {
    CHECK(message.ends_with("running on " + faulty.backend.spec() + ": out of memory"));
    return;
  }
  CHECK(has(message, injected_call + faulty.injector.call() + ": "));
}

ErrorKind kind_of(GpuFault fault) {
  return fault == GpuFault::device_lost ? ErrorKind::device_lost : ErrorKind::run_failed;
}

/// A description with its inputs and the bytes that its output file should have.
struct JobRow {
  std::string name;
  std::string description;
  std::vector<NamedFile> inputs;
  std::uint64_t device_memory_bytes;
  std::string expected;
};

JobRow sample_row(const std::string& name, std::vector<std::string> inputs) {
  const std::string folder = samples + name + "/";
  JobRow row{name, folder + "op.json", {}, 0, read_file(folder + "expected/OutputTensor.npy")};
  for (const std::string& input : inputs) row.inputs.push_back({input, folder + input + ".npy"});
  return row;
}

/// More tiles than streams.
JobRow tiled_row(const Folder& folder) {
  std::vector<std::uint8_t> elements(1000);
  std::iota(elements.begin(), elements.end(), std::uint8_t{0});
  std::string padded(1, '\xE7');  // element 999 is 999 % 256
  padded += bytes_of(elements) + std::string("\0\x01", 2);
  folder.write("op.json", R"({"type": "PADDING", "desc": {"InputTensor": {"DataType": "UINT8", )"
                          R"("Sizes": [1000]}, "PaddingMode": "WRAP", "StartPadding": [1], )"
                          R"("EndPadding": [2]}})");
  const std::string input = folder.write("in.npy", npy("|u1", "(1000,)", bytes_of(elements)));
  return {"tiles",
          folder / "op.json",
          {{"InputTensor", input}},
          4 << 10,
          npy("|u1", "(1003,)", padded)};
}

Job job_of(const JobRow& row, const std::string& output) {
  Diagnostics diagnostics;
  auto job = prepare_job({.description_path = row.description,
                          .inputs = row.inputs,
                          .outputs = {{"OutputTensor", output}}},
                         Purpose::run, diagnostics);
  REQUIRE(diagnostics.empty());
  return std::move(*job);
}

/// Runs the job into a folder that holds an older output, or none, and once more without a fault.
void check_job(const JobRow& row, FaultyBackend& faulty, bool has_older) {
  CAPTURE(has_older);
  const Folder outputs;
  if (has_older) outputs.write("out.npy", "older");
  const Job job = job_of(row, outputs / "out.npy");
  const ExecutionOptions options{.threads = 2, .device_memory_bytes = row.device_memory_bytes};
  const auto run = [&] { return ending_of([&] { run_job(job, faulty.backend, options); }); };
  const auto check_untouched = [&] {
    CHECK(outputs.list() == (has_older ? "out.npy" : ""));
    if (has_older) CHECK(outputs.read("out.npy") == "older");
  };
  const Ending ending = run();
  if (!faulty.injector.fired()) {
    CHECK(ending.message == "");
    CHECK(outputs.read("out.npy") == row.expected);
    return;
  }
  CHECK(ending.kind == kind_of(faulty.fault));
  check_message(faulty, ending.message);
  check_untouched();
  CHECK(faulty.injector.streams.load() == 0);
  faulty.injector.disarm();
  const Ending next = run();
  if (faulty.injector.lost()) {
    CHECK(next.kind == ErrorKind::device_lost);
    return check_untouched();
  }
  CHECK(next.message == "");
  CHECK(outputs.read("out.npy") == row.expected);
}

TEST_CASE("gpu faults: a job fails with its reason, leaves no file, and the next one is right") {
  if (!has_gpu()) return;
  const Folder folder;
  const std::vector<JobRow> rows{
      sample_row("padding", {"InputTensor"}),
      sample_row("reverse_subsequences", {"InputTensor", "SequenceLengthsTensor"}),
      tiled_row(folder)};
  for (const JobRow& row : rows) {
    unsigned runs = 0;
    with_every_fault(row.name,
                     [&](FaultyBackend& faulty) { check_job(row, faulty, runs++ % 2 == 0); });
  }
}

/// Dispatches on buffers of the device but for "spread", whose strided output comes from the host.
const std::string model_text = R"({
  "resources": {
    "In": {"initialValuesDataType": "INT32", "initialValues": [1, 2, 3, 4]},
    "Middle": {"initialValuesDataType": "INT32", "initialValues": {"valueCount": 5, "value": 0}},
    "Wide": {"initialValuesDataType": "INT32", "initialValues": {"valueCount": 9, "value": -1}},
    "Out": {"initialValuesDataType": "INT32", "initialValues": {"valueCount": 5, "value": 0}}
  },
  "dispatchables": {
    "pad": {"type": "PADDING", "desc": {
      "InputTensor": {"DataType": "INT32", "Sizes": [4]},
      "OutputTensor": {"DataType": "INT32", "Sizes": [5]},
      "PaddingMode": "EDGE", "PaddingValue": 0, "DimensionCount": 1,
      "StartPadding": [1], "EndPadding": [0]}},
    "turn": {"type": "SLICE1", "desc": {
      "InputTensor": {"DataType": "INT32", "Sizes": [5]},
      "OutputTensor": {"DataType": "INT32", "Sizes": [5]},
      "DimensionCount": 1, "InputWindowOffsets": [0], "InputWindowSizes": [5],
      "InputWindowStrides": [-1]}},
    "spread": {"type": "SLICE1", "desc": {
      "InputTensor": {"DataType": "INT32", "Sizes": [5]},
      "OutputTensor": {"DataType": "INT32", "Sizes": [5], "Strides": [2]},
      "DimensionCount": 1, "InputWindowOffsets": [0], "InputWindowSizes": [5],
      "InputWindowStrides": [-1]}}
  },
  "commands": [
    {"type": "dispatch", "dispatchable": "pad",
     "bindings": {"InputTensor": "In", "OutputTensor": "Middle"}},
    {"type": "dispatch", "dispatchable": "turn",
     "bindings": {"InputTensor": "Middle", "OutputTensor": "Wide"}},
    {"type": "dispatch", "dispatchable": "spread",
     "bindings": {"InputTensor": "Middle", "OutputTensor": "Wide"}},
    {"type": "dispatch", "dispatchable": "turn",
     "bindings": {"InputTensor": "Wide", "OutputTensor": "Out"}}
  ]
})";
constexpr std::uint64_t resident_dispatches = 3;

using Values = std::vector<std::int32_t>;
const std::vector<Values> model_values{
    {1, 2, 3, 4}, {1, 1, 2, 3, 4}, {4, 3, 3, 1, 2, -1, 1, -1, 1}, {2, 1, 3, 3, 4}};

/// Runs the model and reads what its resources hold; how many dispatches stayed on the device.
std::uint64_t run_model(const Model& model, Backend& backend, std::vector<Values>& values) {
  Runtime runtime(model, backend, {.threads = 1});
  for (const ModelCommand& command : model.commands)
    runtime.dispatch(std::get<DispatchCommand>(command));
  for (std::size_t i = 0; i < model.resources.size(); ++i) {
    const auto bytes = runtime.contents(i);
    values.emplace_back(bytes.size() / sizeof(std::int32_t));
    std::memcpy(values.back().data(), bytes.data(), bytes.size());
  }
  return runtime.resident_dispatches();
}

TEST_CASE(
    "gpu faults: a model fails as a whole, or runs from the host where buffers have no room") {
  if (!has_gpu()) return;
  const Model model = valid_model(model_text);
  unsigned named = 0;
  with_every_fault("model", [&](FaultyBackend& faulty) {
    std::vector<Values> values;
    std::uint64_t resident = 0;
    const auto run = [&] {
      values.clear();
      return ending_of([&] { resident = run_model(model, faulty.backend, values); });
    };
    const Ending ending = run();
    FaultInjector& injector = faulty.injector;
    // Where there is no room, unused memory makes some, or bytes of a resource stay on the host.
    const bool has_room = injector.call() != "make_buffer" || injector.lost();
    const bool goes_on = injector.fired() && !has_room && ending.message.empty();
    if (!injector.fired() || goes_on) {
      CHECK(ending.message == "");
      CHECK(values == model_values);
      CHECK(resident <= resident_dispatches);
      if (!goes_on) CHECK(resident == resident_dispatches);
    } else {
      CHECK(ending.kind == kind_of(faulty.fault));
      check_message(faulty, ending.message);
      named += ending.message.starts_with("\"turn\" (SLICE1): ") ? 1U : 0U;
      // Kernels are compiled before the device's turn.
      if (injector.call() != "prepare") CHECK(injector.streams.load() == 0);
    }
    injector.disarm();
    const Ending next = run();
    if (injector.lost()) {
      CHECK(next.kind == ErrorKind::device_lost);
      return;
    }
    CHECK(next.message == "");
    CHECK(values == model_values);
    CHECK(resident == resident_dispatches);
  });
  CHECK(named > 0);
}

/// A folder of jobs: the samples as descriptions and as models.
class Jobs {
 public:
  Jobs() {
    for (const char* const name : {"padding", "slice1", "reverse_subsequences", "lp_pooling"}) {
      fs::copy(samples + name, folder_ / name, fs::copy_options::recursive);
      const std::string model = std::string("model_") + name;
      folder_.write(model + "/model.json",
                    read_file(samples + "dxdispatch/" + std::string(name) + ".json"));
      folder_.write(model + "/expected/Out.npy",
                    read_file(samples + name + "/expected/OutputTensor.npy"));
      ids_.insert({name, model});
    }
  }

  const std::set<std::string>& ids() const { return ids_; }

  std::map<std::string, BatchResult> run(Backend& backend, const Folder& outputs,
                                         BatchSummary& summary) const {
    Diagnostics diagnostics;
    const auto manifest = open_manifest({{folder_.path()}}, diagnostics);
    REQUIRE(diagnostics.empty());
    std::map<std::string, BatchResult> results;
    summary = run_batch(*manifest, backend,
                        {.workers = 3,
                         .execution = {.threads = 1},
                         .output_folder = outputs.path(),
                         .keep_records = true},
                        [&](const BatchResult& result) { results[result.id] = result; });
    return results;
  }

 private:
  Folder folder_;
  std::set<std::string> ids_;
};

using Files = std::map<std::string, std::string>;

/// What a job wrote: bytes by path below its folder.
Files files_of(const Folder& outputs, const std::string& id) {
  Files files;
  const fs::path folder = to_path(outputs / id);
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    files[to_text(entry.path().lexically_relative(folder))] = read_file(entry.path());
  return files;
}

void check_batch(const Jobs& jobs, const Folder& right, FaultyBackend& faulty) {
  const Folder outputs;
  BatchSummary summary;
  const auto results = jobs.run(faulty.backend, outputs, summary);
  std::map<Status, unsigned> counts;
  for (const std::string& id : jobs.ids()) {
    CAPTURE(id);
    REQUIRE(results.count(id) == 1);
    const BatchResult& result = results.at(id);
    CAPTURE(result.message);
    ++counts[result.status];
    const auto record = nlohmann::json::parse(result.record);
    CHECK(record.at("status") == name_of(result.status));
    CHECK(record.at("exitCode") == result.exit_code);
    CHECK((result.status == Status::error) == (result.exit_code == 5));
    if (result.status == Status::not_run) CHECK(result.message == "the device was lost");
    const bool is_passed = result.status == Status::passed;
    CHECK(files_of(outputs, id) == (is_passed ? files_of(right, id) : Files{}));
  }
  CHECK(results.size() == jobs.ids().size());
  const bool lost = faulty.injector.lost();
  // Where there is no room for a resource of a model, its bytes stay on the host.
  const bool has_room = faulty.injector.call() != "make_buffer" || lost;
  const bool fails = faulty.injector.fired() && (has_room || summary.exit_code != 0);
  CHECK(summary.exit_code == (fails ? 5 : 0));
  CHECK(summary.interrupted == (lost ? "the device was lost" : ""));
  if (lost) {
    CHECK(counts[Status::error] >= 1);
    CHECK(counts[Status::error] <= 3);  // each worker met the loss
  } else {
    CHECK(counts[Status::error] == (fails ? 1 : 0));
    CHECK(counts[Status::not_run] == 0);
  }
  CHECK(counts[Status::passed] + counts[Status::error] + counts[Status::not_run] ==
        jobs.ids().size());
}

TEST_CASE("gpu faults: a batch loses one job, or after a loss all that were to come") {
  if (!has_gpu()) return;
  const Jobs jobs;
  const Folder right;
  Backend sound(open_gpu());
  BatchSummary summary;
  jobs.run(sound, right, summary);
  REQUIRE(summary.exit_code == 0);
  REQUIRE_FALSE(files_of(right, "padding").empty());
  REQUIRE_FALSE(files_of(right, "model_padding").empty());
  with_every_fault("batch", [&](FaultyBackend& faulty) { check_batch(jobs, right, faulty); });
}

TEST_CASE("gpu faults: a job that differs stays FAILED without the picture of its difference") {
  if (!has_gpu()) return;
  const Folder folder;
  folder.write("jobs.jsonl",
               R"({"id": "wrong", "type": "PADDING", "desc": {"PaddingMode": "EDGE", )"
               R"("StartPadding": [1], "EndPadding": [2]}, )"
               R"("bindings": {"InputTensor": "x.npy"}, "expect": "golden.npy"})"
               "\n");
  folder.write("x.npy", float_npy("(3,)", {1, 2, 3}));
  folder.write("golden.npy", float_npy("(6,)", {1, 1, 2, 3, 3, 3.5F}));
  unsigned without_picture = 0;
  with_every_fault("picture", [&](FaultyBackend& faulty) {
    Diagnostics diagnostics;
    const auto manifest = open_manifest({{folder / "jobs.jsonl"}}, diagnostics);
    BatchResult found;
    const BatchSummary summary =
        run_batch(*manifest, faulty.backend, {.execution = {.threads = 1}, .keep_pictures = true},
                  [&](const BatchResult& result) { found = result; });
    CAPTURE(found.message);
    CAPTURE(found.pictures);
    CHECK(summary.exit_code == found.exit_code);
    if (faulty.injector.lost()) {
      CHECK(found.status == Status::error);
      CHECK(summary.interrupted == "the device was lost");
    } else if (found.status == Status::failed) {
      const bool is_missing = has(found.pictures, "picturesMissing");
      CHECK(is_missing == faulty.injector.fired());
      CHECK(has(found.message, "1 of 6"));
      if (is_missing) ++without_picture;
    } else {
      CHECK(found.status == Status::error);
      CHECK(faulty.injector.fired());
    }
  });
  CHECK(without_picture > 0);
}

}  // namespace
}  // namespace dmlop::test::gpu_fault_test
