#include "job/bench.hpp"

#include <algorithm>
#include <cstring>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "job/bench_gpu.hpp"
#include "job/bench_runs.hpp"
#include "job/random_inputs.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

// A copy of less measures how long threads and kernels take to start.
constexpr std::uint64_t smallest_share_bytes = std::uint64_t{1} << 20;

/// A plan's inputs: files, and random data where there is none.
struct Workload {
  std::vector<Bytes> owned;
  std::vector<std::span<const std::byte>> inputs;  // by slot
};

Workload make_workload(const Job& job, const Plan& plan, unsigned threads) {
  Workload workload{{}, std::vector<std::span<const std::byte>>(plan.slots.size())};
  std::uint64_t seed = 1;
  for (const std::size_t slot : plan.slots_of(SlotKind::input)) {
    const Slot& tensor = plan.slots[slot];
    const auto is_it = [&](const BoundInput& input) {
      return input.tensor == tensor.field && input.element == tensor.element;
    };
    const auto bound = std::find_if(job.inputs.begin(), job.inputs.end(), is_it);
    if (bound != job.inputs.end()) {
      workload.inputs[slot] = bound->file.data();
      continue;
    }
    const FieldSpec& field = *job.description.find(tensor.field)->spec;
    workload.owned.push_back(bench_input(job.description, field, tensor.element, seed, threads));
    workload.inputs[slot] = workload.owned.back();
    seed += std::uint64_t{1} << 32;
  }
  return workload;
}

// Bytes of an input that the plan reads, each counted once. What only moves elements reads at most
// one for each that it writes: the rows that are gathered, not their table.
std::uint64_t bytes_read(const Plan& plan, std::size_t slot) {
  const Slot& input = plan.slots[slot];
  std::uint64_t elements = 0;
  for (const Pass& pass : plan.passes) {
    const bool moves = std::holds_alternative<GatherKernel>(pass.kernel) ||
                       std::holds_alternative<IndexMapKernel>(pass.kernel);
    for (std::size_t i = 0; i < pass.reads.size(); ++i) {
      if (pass.reads[i] != slot) continue;
      const std::uint64_t most = moves && i == 0 ? output_elements(pass.kernel) : input.elements;
      elements += std::min(input.elements, most);
    }
  }
  return std::min(elements, input.elements) * input.element_size;
}

void copy_on_cpu(unsigned threads, std::span<const std::byte> from, std::span<std::byte> to) {
  parallel_for(threads, threads, [&](unsigned, std::uint64_t part) {
    const std::uint64_t begin = from.size() * part / threads,
                        end = from.size() * (part + 1) / threads;
    std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  });
}

// Half the time for the reference is enough.
BenchOptions shorter(BenchOptions options) {
  options.min_seconds /= 2;
  return options;
}

void bench_cpu(const Plan& plan, SlotBytes inputs, unsigned threads, const BenchOptions& options,
               BenchResult& result) {
  const auto timed = [](auto&& action) {
    const auto start = BenchClock::now();
    action();
    return seconds_since(start);
  };
  result.clock = "wall";
  PlanInMemory measured(plan, inputs, threads);
  result.seconds = measure(options, 0, [&] { return timed([&] { measured.run(); }); });
  const std::uint64_t bytes =
      std::max<std::uint64_t>((result.input_bytes + result.output_bytes) / 2, 1);
  const Bytes from(bytes, std::byte{1});
  Bytes to(bytes);
  const auto copies =
      measure(shorter(options), 0, [&] { return timed([&] { copy_on_cpu(threads, from, to); }); });
  result.copy_bytes_per_second.value = 2.0 * static_cast<double>(bytes) / copies[copies.size() / 2];
  for (Measured* none :
       {&result.set_up_seconds, &result.upload_seconds, &result.download_seconds}) {
    none->reason = "the CPU needs none";
  }
}

unsigned bench_threads(const BenchOptions& options) {
  return options.execution.threads != 0 ? options.execution.threads : hardware_threads();
}

}  // namespace

BenchResult bench(const Job& job, const gpu::DeviceRequest& request, const BenchOptions& options) {
  const Plan plan = make_plan(job.description);
  const Workload workload = make_workload(job, plan, bench_threads(options));
  BenchResult result = bench(*job.description.spec, plan, workload.inputs, request, options);
  for (const BoundInput& input : job.inputs) require_intact(input.file, input.path);
  return result;
}

BenchResult bench(const OperatorSpec& spec, const Plan& plan, SlotBytes inputs,
                  const gpu::DeviceRequest& request, const BenchOptions& options) {
  const unsigned threads = bench_threads(options);
  const auto start = BenchClock::now();
  Backend backend(request);
  BenchResult result;
  result.set_up_seconds.value = seconds_since(start);
  result.device = backend.spec();
  result.device_kind = backend.kind();
  for (const std::size_t slot : plan.slots_of(SlotKind::input))
    result.input_bytes += bytes_read(plan, slot);
  for (const std::size_t slot : plan.slots_of(SlotKind::output))
    result.output_bytes += plan.slots[slot].bytes();
  if (backend.is_gpu()) {
    bench_gpu(spec, plan, inputs, backend, options, result);
  } else {
    result.set_up_seconds.value.reset();
    bench_cpu(plan, inputs, threads, options, result);
  }
  const std::uint64_t bytes = result.input_bytes + result.output_bytes;
  if (bytes < smallest_share_bytes)
    result.copy_bytes_per_second = {
        std::nullopt, counted(bytes, "byte") +
                          " in and out are too few to compare with a copy, which takes at least " +
                          std::to_string(smallest_share_bytes)};
  return result;
}

}  // namespace dmlop
