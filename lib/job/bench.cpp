#include "job/bench.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>

#include "base/parallel.hpp"
#include "base/text.hpp"
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

struct Workload {
  std::vector<Bytes> owned;
  std::vector<std::span<const std::byte>> inputs;
};

Workload make_workload(const Job& job, unsigned threads) {
  Workload workload;
  std::uint64_t seed = 1;
  for (const Field& field : job.description.fields) {
    if (!field.spec->is_input()) continue;
    const auto has_name = [&](const BoundInput& input) { return input.tensor == field.spec->name; };
    const auto bound = std::find_if(job.inputs.begin(), job.inputs.end(), has_name);
    if (bound != job.inputs.end()) {
      workload.inputs.push_back(bound->file.data());
      continue;
    }
    workload.owned.push_back(random_bytes(std::get<TensorDesc>(field.value), seed, threads));
    workload.inputs.push_back(workload.owned.back());
    seed += std::uint64_t{1} << 32;
  }
  return workload;
}

void copy_on_cpu(unsigned threads, std::span<const std::byte> from, std::span<std::byte> to) {
  parallel_for(threads, threads, [&](unsigned, std::uint64_t part) {
    const std::uint64_t begin = from.size() * part / threads,
                        end = from.size() * (part + 1) / threads;
    std::memcpy(to.data() + begin, from.data() + begin, end - begin);
  });
}

// Distance of two float bit patterns of one sign, which pooling's results have.
bool within_four_ulp(DataType type, const std::byte* a, const std::byte* b) {
  const auto distance = [](auto x, auto y) { return x > y ? x - y : y - x; };
  if (type == DataType::Float16) {
    std::uint16_t x, y;
    std::memcpy(&x, a, 2);
    std::memcpy(&y, b, 2);
    return distance(x, y) <= 4;
  }
  std::uint32_t x, y;
  std::memcpy(&x, a, 4);
  std::memcpy(&y, b, 4);
  return distance(x, y) <= 4;
}

void compare_with_cpu(const Plan& plan, std::span<const std::byte> actual,
                      std::span<const std::byte> expected) {
  const auto* pooling = std::get_if<LpPoolingPlan>(&plan);
  const std::size_t size = output_element_size(plan);
  for (std::size_t at = 0; at < actual.size(); at += size) {
    const bool same =
        std::memcmp(&actual[at], &expected[at], size) == 0 ||
        (pooling != nullptr && within_four_ulp(pooling->data_type, &actual[at], &expected[at]));
    if (same) continue;
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

void bench_cpu(const Plan& plan, cpu::Inputs inputs, unsigned threads, const BenchOptions& options,
               BenchResult& result) {
  const auto timed = [](auto&& action) {
    const auto start = Clock::now();
    action();
    return seconds_since(start);
  };
  result.clock = "wall";
  Bytes output = zero_bytes(result.output_bytes);
  result.seconds = measure(options, 0, [&] {
    return timed([&] { cpu::execute_all(plan, inputs, threads, output.data()); });
  });
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

void fill_lane(gpu::Lane& lane, const Tile& tile, cpu::Inputs inputs, unsigned threads) {
  for (std::size_t i = 0; i < tile.gathers.size(); ++i) {
    const Plan gather(tile.gathers[i]);
    const auto staging = lane.input(i, output_elements(gather) * tile.gathers[i].element_size);
    cpu::execute_all(gather, inputs.subspan(i), threads, staging.data());
  }
}

/// The copy kernel over random data that stays on the device.
class CopyLane {
 public:
  CopyLane(gpu::Device& device, std::uint64_t total_bytes) : lane_(device.make_lane()) {
    const std::uint64_t most = std::min(device.buffer_bytes_limit(), std::uint64_t{1} << 30);
    bytes_ = std::clamp<std::uint64_t>(total_bytes / 2, 1 << 20, most) / 16 * 16;
    const auto staging = lane_->input(2, bytes_);
    std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): every time the same
    for (std::uint64_t at = 0; at + 8 <= bytes_; at += 8) {
      const std::uint64_t bits = random();
      std::memcpy(&staging[at], &bits, sizeof bits);
    }
    dispatch_ = gpu::copy_dispatch(bytes_);
    lane_->submit(dispatch_);
    lane_->finish();
  }
  std::optional<double> run() const { return lane_->repeat(dispatch_); }
  double bytes_moved() const { return 2.0 * static_cast<double>(bytes_); }

 private:
  std::unique_ptr<gpu::Lane> lane_;
  gpu::Dispatch dispatch_;
  std::uint64_t bytes_ = 0;
};

void bench_gpu(const Plan& plan, cpu::Inputs inputs, unsigned threads, Backend& backend,
               const BenchOptions& options, BenchResult& result) {
  gpu::Device& device = *backend.gpu()->device;
  const auto grid = TileGrid::make(plan, {.buffer_bytes = device.buffer_bytes_limit()});
  if (!grid || grid->size() != 1 || !gpu::fits_kernel(plan)) {
    throw Error(ErrorKind::run_failed, "the tensors do not fit one dispatch on " +
                                           device.info().name + "; bench smaller ones");
  }
  const Tile tile = grid->tile(0);
  const gpu::Dispatch dispatch = gpu::make_dispatch(tile.plan, device.buffer_bytes_limit());
  const CopyLane copy(device, result.input_bytes + result.output_bytes);
  {
    const auto lane = device.make_lane();
    fill_lane(*lane, tile, inputs, threads);
    lane->submit(dispatch);
    const auto output = lane->finish();
    Bytes expected = zero_bytes(result.output_bytes);
    cpu::execute_all(plan, inputs, threads, expected.data());
    compare_with_cpu(plan, output, expected);
    const gpu::DispatchTimes times = lane->times();
    const std::string reason = times.upload ? "" : "the device has no timestamps";
    result.upload_seconds = {times.upload, reason};
    result.download_seconds = {times.download, reason};
    result.clock = times.kernel ? "device" : "wall";
    // Kernel and copy take turns: clocks that change while they run change both.
    std::vector<double> copies;
    result.seconds = measure(options, gpu_warm_up_seconds, [&] {
      if (const auto seconds = copy.run()) copies.push_back(*seconds);
      const auto start = Clock::now();
      const auto seconds = lane->repeat(dispatch);
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
  const Workload workload = make_workload(job, threads_of(options));
  BenchResult result = bench(make_plan(job.description), workload.inputs, request, options);
  for (const BoundInput& input : job.inputs) require_intact(input.file, input.path);
  return result;
}

BenchResult bench(const Plan& plan, std::span<const std::span<const std::byte>> inputs,
                  const gpu::DeviceRequest& request, const BenchOptions& options) {
  const unsigned threads = threads_of(options);
  const auto start = Clock::now();
  Backend backend(request);
  BenchResult result;
  result.set_up_seconds.value = seconds_since(start);
  result.device = backend.spec();
  for (const auto& input : inputs) result.input_bytes += input.size();
  result.output_bytes = output_elements(plan) * output_element_size(plan);
  if (backend.is_gpu()) {
    bench_gpu(plan, inputs, threads, backend, options, result);
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
