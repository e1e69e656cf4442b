#include "job/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "compare/compare.hpp"
#include "cpu/execute.hpp"
#include "gpu/dispatch.hpp"
#include "job/backend_gpu.hpp"
#include "ops/operator.hpp"
#include "ops/tiling.hpp"
#include "tensor/half.hpp"

namespace dmlop {
namespace {

using Bytes = std::vector<std::byte>;
using Clock = std::chrono::steady_clock;

constexpr std::uint64_t part_bytes = std::uint64_t{1} << 20;

// A copy of less measures how long threads and kernels take to start.
constexpr std::uint64_t smallest_share_bytes = std::uint64_t{1} << 20;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Errors: run_failed without memory for them.
Bytes zero_bytes(std::uint64_t count) {
  try {
    return Bytes(count);
  } catch (const std::exception&) {  // bad_alloc, length_error
    throw Error(ErrorKind::run_failed, "out of memory for " + counted(count, "byte"));
  }
}

std::uint64_t buffer_elements(const TensorDesc& desc) {
  return *reached_elements(desc.sizes, input_strides(desc));
}

// Random elements: floats in [-1, 1), 32- and 64-bit integers up to the largest size (they may be
// lengths or indices), other integers any bits.
Bytes random_bytes(const TensorDesc& desc, std::uint64_t seed, unsigned threads) {
  const DataType type = *desc.data_type;
  const std::size_t size = size_of(type);
  const std::uint64_t largest = *std::max_element(desc.sizes.begin(), desc.sizes.end());
  Bytes bytes = zero_bytes(buffer_elements(desc) * size);
  parallel_for(
      threads, (bytes.size() + part_bytes - 1) / part_bytes, [&](unsigned, std::uint64_t part) {
        std::mt19937_64 random(seed + part);
        const std::uint64_t end = std::min<std::uint64_t>(bytes.size(), (part + 1) * part_bytes);
        for (std::uint64_t at = part * part_bytes; at < end; at += size) {
          const std::uint64_t bits = random();
          const double number = static_cast<double>(static_cast<std::int64_t>(bits)) * 0x1p-63;
          const auto put = [&](auto value) { std::memcpy(&bytes[at], &value, sizeof value); };
          if (type == DataType::Float32) {
            put(static_cast<float>(number));
          } else if (type == DataType::Float16) {
            put(half_from_double(number));
          } else if (type == DataType::Float64) {
            put(number);
          } else {
            const std::uint64_t integer = size >= 4 ? bits % (largest + 1) : bits;
            std::memcpy(&bytes[at], &integer, size);
          }
        }
      });
  return bytes;
}

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
    const TensorDesc& desc = *job.description.find_tensor(tensor.field, tensor.element);
    workload.owned.push_back(random_bytes(desc, seed, threads));
    workload.inputs[slot] = workload.owned.back();
    seed += std::uint64_t{1} << 32;
  }
  return workload;
}

/// Runs a plan on the CPU again and again, all of it in memory.
class PlanInMemory {
 public:
  PlanInMemory(const Plan& plan, SlotBytes inputs, unsigned threads)
      : plan_(plan), inputs_(inputs), threads_(threads) {
    for (const Slot& slot : plan.slots)
      written_.push_back(slot.kind == SlotKind::input ? Bytes{} : zero_bytes(slot.bytes()));
  }
  void run() {
    for (const Pass& pass : plan_.passes) {
      std::vector<std::span<const std::byte>> read;
      std::vector<std::byte*> write;
      for (const std::size_t slot : pass.reads)
        read.push_back(plan_.slots[slot].kind == SlotKind::input ? inputs_[slot] : written_[slot]);
      for (const std::size_t slot : pass.writes) write.push_back(written_[slot].data());
      cpu::execute_all(pass.kernel, read, threads_, write);
    }
  }
  const Bytes& output(std::size_t slot) const { return written_[slot]; }

 private:
  const Plan& plan_;
  SlotBytes inputs_;
  unsigned threads_;
  std::vector<Bytes> written_;  // by slot
};

void copy_on_cpu(unsigned threads, std::span<const std::byte> from, std::span<std::byte> to) {
  parallel_for(threads, threads, [&](unsigned, std::uint64_t part) {
    const std::uint64_t begin = from.size() * part / threads,
                        end = from.size() * (part + 1) / threads;
    std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  });
}

// Errors: run_failed where an element is further off than the operator's spec allows.
void compare_with_cpu(const OperatorSpec& spec, const Kernel& kernel,
                      std::span<const std::byte> actual, std::span<const std::byte> expected) {
  const auto* pooling = std::get_if<LpPoolingKernel>(&kernel);  // others move bytes
  const std::uint64_t ulp =
      pooling != nullptr ? spec.default_tolerance(pooling->data_type).ulp.value_or(0) : 0;
  const auto is_near = [&](const std::byte* a, const std::byte* b) {
    if (pooling == nullptr) return false;
    const Deviation deviation = deviation_of(pooling->data_type, a, b, true);
    return deviation.comparable && deviation.ulp <= ulp;
  };
  const std::size_t size = output_element_size(kernel);
  for (std::size_t at = 0; at < actual.size(); at += size) {
    if (std::memcmp(&actual[at], &expected[at], size) == 0 || is_near(&actual[at], &expected[at]))
      continue;
    throw Error(ErrorKind::run_failed, "the device's result differs from the CPU's at element " +
                                           std::to_string(at / size));
  }
}

// An idle GPU takes this long to reach its clocks; before, kernels were seen at a quarter of their
// rate.
constexpr double gpu_warm_up_seconds = 1;

// Warms up, then runs until both minima are met; sorted seconds.
template <typename Run>
std::vector<double> measure(const BenchOptions& options, double warm_up_seconds, Run&& run) {
  const auto warm_up = Clock::now();
  do {
    run();
  } while (seconds_since(warm_up) < warm_up_seconds);
  std::vector<double> seconds;
  const auto start = Clock::now();
  while (seconds.size() < options.min_runs || seconds_since(start) < options.min_seconds) {
    check_for_stop();
    seconds.push_back(run());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

// Half the time for the reference is enough.
BenchOptions shorter(BenchOptions options) {
  options.min_seconds /= 2;
  return options;
}

void bench_cpu(const Plan& plan, SlotBytes inputs, unsigned threads, const BenchOptions& options,
               BenchResult& result) {
  const auto timed = [](auto&& action) {
    const auto start = Clock::now();
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

void fill_stream(gpu::Stream& stream, const Tile& tile, cpu::Inputs inputs, unsigned threads) {
  for (std::size_t i = 0; i < tile.gathers.size(); ++i) {
    const Kernel gather(tile.gathers[i]);
    const auto staging = stream.input(i, output_elements(gather) * tile.gathers[i].element_size);
    cpu::execute_all(gather, inputs.subspan(i), threads, staging.data());
  }
}

/// The copy kernel over random data that stays on the device.
class CopyStream {
 public:
  CopyStream(gpu::Device& device, std::uint64_t total_bytes) : stream_(device.make_stream()) {
    const std::uint64_t most = std::min(device.buffer_bytes_limit(), std::uint64_t{1} << 30);
    bytes_ = std::clamp<std::uint64_t>(total_bytes / 2, 1 << 20, most) / 16 * 16;
    const auto staging = stream_->input(2, bytes_);
    std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): every time the same
    for (std::uint64_t at = 0; at + 8 <= bytes_; at += 8) {
      const std::uint64_t bits = random();
      std::memcpy(&staging[at], &bits, sizeof bits);
    }
    dispatch_ = gpu::copy_dispatch(bytes_);
    stream_->submit(dispatch_);
    stream_->finish();
  }
  std::optional<double> run() const { return stream_->repeat(dispatch_); }
  double bytes_moved() const { return 2.0 * static_cast<double>(bytes_); }

 private:
  std::unique_ptr<gpu::Stream> stream_;
  gpu::Dispatch dispatch_;
  std::uint64_t bytes_ = 0;
};

// Plans of one kernel: the stream measures one dispatch.
void bench_gpu(const OperatorSpec& spec, const Plan& plan, SlotBytes slots, unsigned threads,
               Backend& backend, const BenchOptions& options, BenchResult& result) {
  gpu::Device& device = *backend.gpu()->device;
  if (plan.passes.size() != 1)
    throw Error(ErrorKind::unavailable,
                "bench measures operators of one kernel on a GPU, and this "
                "one has " +
                    std::to_string(plan.passes.size()) + ": use --cpu");
  const Pass& pass = plan.passes.front();
  std::vector<std::span<const std::byte>> inputs;
  for (const std::size_t slot : pass.reads) inputs.push_back(slots[slot]);
  const auto grid = TileGrid::make(pass.kernel, {.buffer_bytes = device.buffer_bytes_limit()});
  if (!grid || grid->size() != 1 || !gpu::kernel_refusal(pass.kernel).empty()) {
    throw Error(ErrorKind::run_failed, "the tensors do not fit one dispatch on " +
                                           device.info().name + "; bench smaller ones");
  }
  const Tile tile = grid->tile(0);
  const gpu::Dispatch dispatch = gpu::make_dispatch(tile.kernel, device.buffer_bytes_limit());
  const CopyStream copy(device, result.input_bytes + result.output_bytes);
  {
    const auto stream = device.make_stream();
    fill_stream(*stream, tile, inputs, threads);
    stream->submit(dispatch);
    const auto output = stream->finish();
    PlanInMemory on_cpu(plan, slots, threads);
    on_cpu.run();
    compare_with_cpu(spec, pass.kernel, output, on_cpu.output(pass.writes.front()));
    const gpu::DispatchTimes times = stream->times();
    const std::string reason = times.upload ? "" : "the device has no timestamps";
    result.upload_seconds = {times.upload, reason};
    result.download_seconds = {times.download, reason};
    result.clock = times.kernel ? "device" : "wall";
    // Kernel and copy take turns: clocks that change while they run change both.
    std::vector<double> copies;
    result.seconds = measure(options, gpu_warm_up_seconds, [&] {
      if (const auto seconds = copy.run()) copies.push_back(*seconds);
      const auto start = Clock::now();
      const auto seconds = stream->repeat(dispatch);
      return seconds.value_or(seconds_since(start));
    });
    // Those of the warm-up, which came first, do not count.
    copies.erase(copies.begin(), copies.end() - static_cast<std::ptrdiff_t>(std::min(
                                                    copies.size(), result.seconds.size())));
    std::sort(copies.begin(), copies.end());
    result.copy_bytes_per_second =
        copies.empty() ? Measured{std::nullopt, "the device has no timestamps"}
                       : Measured{copy.bytes_moved() / copies[copies.size() / 2], ""};
  }
}

unsigned threads_of(const BenchOptions& options) {
  return options.execution.threads != 0 ? options.execution.threads : hardware_threads();
}

}  // namespace

BenchResult bench(const Job& job, const gpu::DeviceRequest& request, const BenchOptions& options) {
  const Plan plan = make_plan(job.description);
  const Workload workload = make_workload(job, plan, threads_of(options));
  BenchResult result = bench(*job.description.spec, plan, workload.inputs, request, options);
  for (const BoundInput& input : job.inputs) require_intact(input.file, input.path);
  return result;
}

BenchResult bench(const OperatorSpec& spec, const Plan& plan, SlotBytes inputs,
                  const gpu::DeviceRequest& request, const BenchOptions& options) {
  const unsigned threads = threads_of(options);
  const auto start = Clock::now();
  Backend backend(request);
  BenchResult result;
  result.set_up_seconds.value = seconds_since(start);
  result.device = backend.spec();
  for (const auto& input : inputs) result.input_bytes += input.size();
  for (const std::size_t slot : plan.slots_of(SlotKind::output))
    result.output_bytes += plan.slots[slot].bytes();
  if (backend.is_gpu()) {
    bench_gpu(spec, plan, inputs, threads, backend, options, result);
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
