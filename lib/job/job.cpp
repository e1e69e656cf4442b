#include "job/job.hpp"

#include <algorithm>
#include <atomic>

#include "base/buffer.hpp"
#include "base/parallel.hpp"
#include "job/bind.hpp"
#include "job/folder.hpp"
#include "job/golden.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

std::string read_text(const std::string& path) {
  return with_context("reading the description " + path, [&] { return json::read_text(path); });
}

/// An input in native byte order: the file's own bytes, or a swapped copy. Errors: run_failed
/// without memory for the copy.
class NativeInput {
 public:
  explicit NativeInput(const BoundInput& input) : bytes_(input.file.data()) {
    const NpyHeader& header = input.file.header();
    const std::size_t size = size_of(header.data_type);
    if (!header.big_endian || size == 1) return;
    swapped_ = Buffer(bytes_.size(), "a little-endian copy of " + input.path);
    in_pieces(bytes_.size() / size, size, [&](std::uint64_t i, std::uint64_t end) {
      for (; i < end; ++i) {
        const auto element = bytes_.subspan(i * size, size);
        std::reverse_copy(element.begin(), element.end(), swapped_.data() + i * size);
      }
    });
    bytes_ = swapped_.bytes();
  }
  NativeInput(NativeInput&&) = default;
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  Buffer swapped_;
  std::span<const std::byte> bytes_;
};

// Elements of INT4 and UINT4 have a byte in a file, but not its range.
void check_four_bit_inputs(const Job& job, Diagnostics& diagnostics) {
  for (const BoundInput& input : job.inputs) {
    const TensorDesc* desc = job.description.find_tensor(input.tensor, input.element);
    if (desc == nullptr || !desc->data_type || info(*desc->data_type).bits != 4) continue;
    const bool is_signed = info(*desc->data_type).kind == NumberKind::signed_integer;
    const int low = is_signed ? -8 : 0, high = is_signed ? 7 : 15;
    const auto value_of = [&](std::byte byte) {
      return is_signed ? static_cast<int>(static_cast<std::int8_t>(byte)) : static_cast<int>(byte);
    };
    const auto bytes = input.file.data();
    const auto outside = [&](std::byte byte) {
      return value_of(byte) < low || value_of(byte) > high;
    };
    const auto wrong = std::find_if(bytes.begin(), bytes.end(), outside);
    if (wrong == bytes.end()) continue;
    const std::string name = to_text(Place{{input.tensor}, input.element});
    const std::string type(name_of(*desc->data_type));
    Diagnostic diagnostic = job.description.at(
        Place{{input.tensor, "DataType"}, input.element},
        "element " + std::to_string(wrong - bytes.begin()) + " of " + input.path + " is " +
            std::to_string(value_of(*wrong)) + ", which does not fit " + type);
    diagnostic.rule = name + " is " + type + ": a .npy file has a byte for each element, from " +
                      std::to_string(low) + " to " + std::to_string(high);
    diagnostic.suggestion = "clip the array before it is saved, or write another DataType";
    diagnostics.push_back(std::move(diagnostic));
  }
}

}  // namespace

Tolerance resolved_tolerance(const std::optional<Tolerance>& given, const OperatorSpec& spec,
                             DataType type) {
  if (given && !given->is_bitwise()) return *given;
  Tolerance tolerance = spec.default_tolerance(type);
  if (given) {
    tolerance.nan_equals_nan = given->nan_equals_nan;
    tolerance.allow_trivial = given->allow_trivial;
  }
  return tolerance;
}

std::optional<Job> prepare_job(const JobRequest& request, Purpose purpose,
                               Diagnostics& diagnostics) {
  auto description = read_description(request.description_path, read_text(request.description_path),
                                      request.feature_level, diagnostics);
  if (!description) return std::nullopt;
  return prepare_job(std::move(*description), request, purpose, diagnostics);
}

std::optional<Job> prepare_job(std::shared_ptr<const json::Document> document,
                               std::shared_ptr<const json::Value> root, const JobRequest& request,
                               Purpose purpose, Diagnostics& diagnostics) {
  auto description = read_description(std::move(document), std::move(root), {},
                                      request.feature_level, diagnostics);
  if (!description) return std::nullopt;
  return prepare_job(std::move(*description), request, purpose, diagnostics);
}

std::optional<Job> prepare_job(Description description, const JobRequest& requested,
                               Purpose purpose, Diagnostics& diagnostics) {
  Job job{std::move(description), {}, {}, {}};
  const JobRequest request =
      with_files_found(requested, job.description, diagnostics, job.warnings);
  // What cannot run needs no files: it is checked, and that it cannot is the only finding.
  const bool is_run = purpose == Purpose::run;
  if (unavailability(job.description)) purpose = Purpose::check;
  if (!check_confined(job.description, request, diagnostics)) {
    sort_by_position(diagnostics);
    return std::nullopt;
  }
  job.inputs = bind_inputs(job.description, request, purpose, diagnostics);
  job.outputs = bind_outputs(job.description, request, purpose, diagnostics);
  job.expected = bind_expected(job.description, request, job.outputs, diagnostics);
  job.description.judge = request.judge;
  check_description(job.description, diagnostics);
  if (is_run && diagnostics.empty()) {
    if (auto finding = unavailability(job.description)) diagnostics.push_back(std::move(*finding));
  }
  check_four_bit_inputs(job, diagnostics);
  for (Expectation& expectation : job.expected) {
    const TensorDesc* desc = job.description.find_tensor(expectation.tensor, expectation.element);
    const auto type = desc != nullptr ? desc->data_type : std::nullopt;
    if (!type) continue;
    expectation.tolerance = resolved_tolerance(request.tolerance, *job.description.spec, *type);
  }
  sort_by_position(diagnostics);
  return diagnostics.empty() ? std::optional(std::move(job)) : std::nullopt;
}

namespace {

// Every operator here has one output.
const std::string& output_name(const Job& job) {
  const auto& fields = job.description.spec->fields;
  const auto is_output = [](const FieldSpec& field) { return field.is_output(); };
  return std::find_if(fields.begin(), fields.end(), is_output)->name;
}

const TensorDesc& output_desc(const Job& job) {
  return job.description.tensor(output_name(job));
}

std::string output_header(const Job& job) {
  const TensorDesc& desc = output_desc(job);
  return npy_header_bytes(*desc.data_type, desc.sizes);
}

// Executes the plan of the job; every byte of its outputs reaches the sink.
gpu::DispatchTimes execute(const Job& job, Backend& backend, const ExecutionOptions& options,
                           const OutputSink& sink) {
  const Plan plan = make_plan(job.description);
  std::vector<NativeInput> natives;
  std::vector<std::span<const std::byte>> inputs(plan.slots.size());
  natives.reserve(job.inputs.size());
  for (const BoundInput& input : job.inputs) {
    const auto slot = plan.find(input.tensor, input.element);
    if (!slot) continue;
    natives.emplace_back(input);
    inputs[*slot] = natives.back().bytes();
  }
  return backend.execute(plan, inputs, options, sink).times;
}

// What was computed counts only if the files were what they were all the time.
void require_intact_inputs(const Job& job) {
  for (const BoundInput& input : job.inputs) require_intact(input.file, input.path);
}

/// The output as a .npy file that is being written.
class NpyOutput {
 public:
  NpyOutput(const Job& job, const std::string& path)
      : header_(output_header(job)), file_(path, header_.size() + output_bytes(job)) {
    file_.write_at(0, std::as_bytes(std::span(header_)));
  }
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    file_.write_at(header_.size() + offset, bytes);
  }
  void commit() { file_.commit(); }

  static std::uint64_t output_bytes(const Job& job) {
    const TensorDesc& desc = output_desc(job);
    return element_count(desc.sizes).value_or(0) * size_of(*desc.data_type);
  }

 private:
  std::string header_;
  OutputFile file_;
};

}  // namespace

Verdict JobResult::verdict() const {
  Verdict worst = Verdict::passed;
  for (const OutputComparison& output : comparisons) {
    const Verdict verdict = output.comparison.verdict();
    if (worst == Verdict::passed || verdict == Verdict::failed) worst = verdict;
  }
  return worst;
}

JobResult run_job(const Job& job, Backend& backend, const ExecutionOptions& options) {
  const TensorDesc& desc = output_desc(job);
  std::optional<NpyOutput> output;
  if (!job.outputs.empty()) output.emplace(job, job.outputs.front().path);
  const Expectation* expectation = nullptr;
  if (!job.expected.empty() && job.expected.front().file) expectation = &job.expected.front();
  std::optional<Elements> expected;
  std::optional<Comparator> comparator;
  if (expectation != nullptr) {
    expected.emplace(*expectation->file);
    comparator.emplace(*expected, *desc.data_type, desc.sizes, expectation->tolerance);
  }
  JobResult result;
  // An output that nobody keeps, and that is not like its golden file, may be of any size.
  const bool is_compared =
      expected && expected->data_type() == *desc.data_type && expected->sizes() == desc.sizes;
  const bool is_needed = output || job.expected.empty() || is_compared;
  if (is_needed)
    result.times = execute(job, backend, options,
                           [&](std::size_t, std::uint64_t offset, std::span<const std::byte> part) {
                             if (output) output->write_at(offset, part);
                             if (comparator)
                               comparator->add(offset / size_of(*desc.data_type), part);
                           });
  require_intact_inputs(job);
  if (expectation != nullptr)
    with_context("reading the golden file " + expectation->path,
                 [&] { expectation->file->require_intact(); });
  if (output) output->commit();
  if (comparator) {
    const std::uint64_t header_bytes = output_header(job).size();
    const std::size_t size = size_of(*desc.data_type);
    result.comparisons.push_back(
        {expectation->tensor, expectation->path,
         comparator->finish([&](std::uint64_t index) { return header_bytes + index * size; })});
  }
  return result;
}

gpu::DispatchTimes execute_job(const Job& job, Backend& backend, const ExecutionOptions& options,
                               const OutputSink& sink) {
  const gpu::DispatchTimes times = execute(job, backend, options, sink);
  require_intact_inputs(job);
  return times;
}

bool write_expected(const Job& job, Backend& backend, const ExecutionOptions& options,
                    const Expectation& expectation) {
  NpyOutput output(job, expectation.path);
  const DataType type = *output_desc(job).data_type;
  std::atomic<bool> proves_something{expectation.tolerance.allow_trivial};
  std::atomic<bool> matches_itself{true};
  execute(job, backend, options,
          [&](std::size_t, std::uint64_t offset, std::span<const std::byte> part) {
            if (!proves_something && has_number(type, part)) proves_something = true;
            if (equals_nothing(type, part, expectation.tolerance)) matches_itself = false;
            output.write_at(offset, part);
          });
  require_intact_inputs(job);
  const bool is_kept = proves_something && matches_itself;
  if (is_kept) output.commit();
  return is_kept;
}

Buffer output_in_memory(const Job& job, Backend& backend, const ExecutionOptions& options,
                        gpu::DispatchTimes* times) {
  Buffer bytes(NpyOutput::output_bytes(job), "the output");
  const gpu::DispatchTimes taken =
      execute_job(job, backend, options,
                  [&](std::size_t, std::uint64_t offset, std::span<const std::byte> part) {
                    std::copy(part.begin(), part.end(), bytes.data() + offset);
                  });
  if (times != nullptr) *times = taken;
  return bytes;
}

}  // namespace dmlop
