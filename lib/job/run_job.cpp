// Execution of a job: its outputs go, as they are computed, to files, comparisons and memory.
#include <algorithm>
#include <deque>
#include <functional>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "job/golden.hpp"
#include "job/job.hpp"
#include "job/output_of_job.hpp"
#include "job/planned.hpp"
#include "job/strict_indices.hpp"
#include "ops/expand.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

/// Receives bytes of one output; may be called from several threads at once.
using BytesSink = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;

/// A job whose plan is made, and the outputs of the plan in the order of the fields.
class PlannedJob {
 public:
  /// The options are those it will run with, and must outlive it. Errors: as check_indices.
  PlannedJob(const Job& job, const ExecutionOptions& options)
      : job_(job), options_(options), plan_(make_plan(job.description)) {
    require_indices();
    outputs_ = planned_outputs(plan_, job.description);
  }

  const std::vector<PlannedOutput>& outputs() const { return outputs_; }

  /// Executes it; `sinks` are by output, and may be empty. What was computed counts only if the
  /// inputs were what they were all the time.
  void execute(Backend& backend, const std::vector<BytesSink>& sinks, JobResult& result) const {
    std::vector<NativeInput> natives;
    std::vector<std::span<const std::byte>> inputs(plan_.slots.size());
    natives.reserve(job_.inputs.size());
    for (const BoundInput& input : job_.inputs) {
      const auto slot = plan_.find(input.tensor, input.element);
      if (!slot) continue;
      natives.emplace_back(input);
      inputs[*slot] = natives.back().bytes();
    }
    std::vector<const BytesSink*> by_slot(plan_.slots.size());
    for (std::size_t i = 0; i < outputs_.size(); ++i) by_slot[outputs_[i].slot] = &sinks[i];
    const Execution execution = backend.execute(
        plan_, inputs, options_,
        [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> bytes) {
          if (*by_slot[slot]) (*by_slot[slot])(offset, bytes);
        });
    result.times = execution.times;
    result.device = execution.device;
    result.notice = execution.notice;
  }

  void require_intact_inputs() const {
    for (const BoundInput& input : job_.inputs) require_intact(input.file, input.path);
  }

 private:
  // Before an output is begun.
  void require_indices() const {
    std::deque<NativeInput> natives;
    check_indices(plan_, job_.description, options_, [&](std::size_t slot) -> InputSource {
      const auto is_it = [&](const BoundInput& input) {
        return plan_.find(input.tensor, input.element) == slot;
      };
      const BoundInput& input = *std::find_if(job_.inputs.begin(), job_.inputs.end(), is_it);
      return {natives.emplace_back(input).bytes(), input.path};
    });
  }

  const Job& job_;
  const ExecutionOptions& options_;
  Plan plan_;
  std::vector<PlannedOutput> outputs_;
};

void commit(std::deque<OutputOfJob>& files) {
  std::vector<OutputFile*> together;
  for (OutputOfJob& file : files) together.push_back(&file.finished());
  if (!together.empty()) commit_together(together);
}

/// The comparison of an output with its golden file while the output is computed.
class RunningComparison {
 public:
  /// `is_raw`: the output's own file has no header.
  RunningComparison(const PlannedOutput& output, const Expectation& expectation, bool is_raw)
      : output_(output),
        header_bytes_(is_raw ? 0 : output.header().size()),
        expectation_(expectation),
        expected_(*expectation.file),
        comparator_(expected_, *output.desc->data_type, output.desc->sizes, expectation.tolerance) {
  }
  RunningComparison(const RunningComparison&) = delete;
  RunningComparison& operator=(const RunningComparison&) = delete;

  /// Whether elements can be compared at all.
  bool needs_elements() const { return comparator_.needs_elements(); }
  void add(std::uint64_t offset, std::span<const std::byte> bytes) {
    comparator_.add(offset / size_of(*output_.desc->data_type), bytes);
  }
  OutputComparison finish() {
    const std::size_t size = size_of(*output_.desc->data_type);
    return {expectation_.name(), expectation_.path,
            comparator_.finish([&](std::uint64_t index) { return header_bytes_ + index * size; })};
  }
  void require_intact() const {
    with_context("reading the golden file " + expectation_.path,
                 [&] { expectation_.file->require_intact(); });
  }

 private:
  const PlannedOutput& output_;
  std::uint64_t header_bytes_;
  const Expectation& expectation_;
  Elements expected_;
  Comparator comparator_;
};

/// Where the outputs of a run go.
struct RunningOutputs {
  std::deque<OutputOfJob> files;
  std::deque<RunningComparison> comparisons;
  std::vector<BytesSink> sinks;  // by output of the plan
  bool are_needed = false;       // somebody keeps an output or can compare it

  RunningOutputs(const Job& job, const PlannedJob& planned, NewGoldenFiles* golden) {
    for (const PlannedOutput& output : planned.outputs()) {
      const auto is_it = [&](const auto& other) { return output.is(other.tensor, other.element); };
      const auto bound = std::find_if(job.outputs.begin(), job.outputs.end(), is_it);
      const auto expected = std::find_if(job.expected.begin(), job.expected.end(), is_it);
      OutputOfJob* file = nullptr;
      const bool is_raw = bound != job.outputs.end() && bound->is_raw;
      RunningComparison* comparison = nullptr;
      if (bound != job.outputs.end()) file = &files.emplace_back(output, bound->path, is_raw);
      if (expected != job.expected.end() && expected->file)
        comparison = &comparisons.emplace_back(output, *expected, is_raw);
      const bool may_match = comparison != nullptr && comparison->needs_elements();
      NewGoldenFile* new_golden = nullptr;
      if (golden != nullptr && expected != job.expected.end())
        new_golden = &golden->begin(output, *expected, may_match);
      are_needed = are_needed || file != nullptr || new_golden != nullptr || may_match;
      sinks.emplace_back([=](std::uint64_t offset, std::span<const std::byte> bytes) {
        if (file != nullptr) file->write_at(offset, bytes);
        if (new_golden != nullptr) new_golden->write_at(offset, bytes);
        if (comparison != nullptr) comparison->add(offset, bytes);
      });
    }
  }
};

}  // namespace

std::uint64_t temporary_bytes(const Job& job) {
  return as_passes(make_plan(job.description)).temporary_bytes();
}

JobResult run_job(const Job& job, Backend& backend, const ExecutionOptions& options,
                  NewGoldenFiles* golden) {
  const PlannedJob planned(job, options);
  RunningOutputs outputs(job, planned, golden);
  JobResult result;
  // Outputs that nobody keeps, and that are not like their golden files, may be of any size.
  if (outputs.are_needed || job.expected.empty()) planned.execute(backend, outputs.sinks, result);
  planned.require_intact_inputs();
  for (const RunningComparison& comparison : outputs.comparisons) comparison.require_intact();
  commit(outputs.files);
  for (RunningComparison& comparison : outputs.comparisons)
    result.comparisons.push_back(comparison.finish());
  return result;
}

std::vector<OutputInMemory> outputs_in_memory(const Job& job, Backend& backend,
                                              const ExecutionOptions& options, JobResult* result,
                                              const std::string& name) {
  const PlannedJob planned(job, options);
  std::vector<OutputInMemory> outputs;
  outputs.reserve(planned.outputs().size());  // sinks point to them
  std::vector<BytesSink> sinks;
  for (const PlannedOutput& output : planned.outputs()) {
    const std::string full_name = tensor_name(output.field, output.element);
    sinks.emplace_back();
    if (!name.empty() && full_name != name) continue;
    outputs.push_back(
        {full_name, output.desc, Buffer(output.bytes(), full_name), output.field, output.element});
    std::byte* to = outputs.back().bytes.data();
    sinks.back() = [to](std::uint64_t offset, std::span<const std::byte> part) {
      std::copy(part.begin(), part.end(), to + offset);
    };
  }
  JobResult ignored;
  planned.execute(backend, sinks, result != nullptr ? *result : ignored);
  planned.require_intact_inputs();
  return outputs;
}

}  // namespace dmlop
