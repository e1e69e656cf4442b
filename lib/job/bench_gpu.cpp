#include "job/bench_gpu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "base/caller.hpp"
#include "base/error.hpp"
#include "compare/compare.hpp"
#include "gpu/dispatch.hpp"
#include "job/backend_gpu.hpp"
#include "job/bench_runs.hpp"
#include "job/device_plan.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

// An idle GPU takes this long to reach its clocks; before, kernels were seen at a quarter of their
// rate.
constexpr double gpu_warm_up_seconds = 1;

/// The copy kernel over random data that stays on the device.
class CopyOnDevice {
 public:
  CopyOnDevice(gpu::Device& device, std::uint64_t total_bytes)
      : bytes_(bytes_for(device, total_bytes)),
        from_(device.make_resident_buffer(bytes_)),
        to_(device.make_resident_buffer(bytes_)),
        dispatch_(gpu::copy_dispatch(bytes_)),
        stream_(device) {
    Bytes random_bytes = bench_bytes(bytes_);
    std::mt19937_64 random(7);  // NOLINT(cert-msc51-cpp): every time the same
    for (std::uint64_t at = 0; at + 8 <= bytes_; at += 8) {
      const std::uint64_t bits = random();
      std::memcpy(&random_bytes[at], &bits, sizeof bits);
    }
    stream_.write({from_.get(), 0, bytes_}, random_bytes);
  }
  std::optional<double> run() {
    stream_.run({.kernels = {{&dispatch_, {{from_.get(), 0, bytes_}}, {{to_.get(), 0, bytes_}}}}});
    stream_.finish();
    return stream_.times().kernel;
  }
  double bytes_moved() const { return 2.0 * static_cast<double>(bytes_); }

 private:
  static std::uint64_t bytes_for(const gpu::Device& device, std::uint64_t total_bytes) {
    const std::uint64_t most = std::min(device.buffer_bytes_limit(), std::uint64_t{1} << 30);
    return std::clamp<std::uint64_t>(total_bytes / 2, 1 << 20, most) / 16 * 16;
  }

  std::uint64_t bytes_;
  std::unique_ptr<gpu::ResidentBuffer> from_, to_;
  gpu::Dispatch dispatch_;
  gpu::Stream stream_;
};

/// A plan whose tensors are on the device.
class PlanOnDevice {
 public:
  PlanOnDevice(const Plan& plan, SlotBytes slots, Backend& backend)
      : plan_(plan), backend_(backend), ranges_(plan.slots.size()) {
    for (std::size_t i = 0; i < plan.slots.size(); ++i) {
      const Slot& slot = plan.slots[i];
      if (slot.kind == SlotKind::temporary) continue;
      const std::uint64_t bytes = slot.kind == SlotKind::input ? slots[i].size() : slot.bytes();
      buffers_.push_back(backend.make_resident_buffer(bytes));
      if (!buffers_.back())
        throw Error(ErrorKind::run_failed,
                    backend.spec() + " has no room for " + slot.field + "; bench smaller tensors");
      ranges_[i] = {buffers_.back().get(), 0, bytes};
      if (slot.kind == SlotKind::input) backend.write_resident(ranges_[i], slots[i]);
    }
    run();
  }
  /// The bytes of an output, by slot, after the first run, which the constructor does.
  std::span<const std::byte> output(std::size_t slot) {
    output_ = bench_bytes(ranges_[slot].bytes);
    backend_.read_resident(ranges_[slot], output_);
    return output_;
  }
  /// Runs once more; seconds on the device.
  std::optional<double> repeat() { return run().kernel; }

 private:
  gpu::DispatchTimes run() {
    gpu::DispatchTimes times;
    Backend::Gpu& gpu = *backend_.gpu();
    gpu::ResidentWork work;
    const std::string refusal =
        DevicePlan(plan_, *gpu.device, gpu.executor).make_resident_work(ranges_, work);
    if (refusal.empty()) {
      gpu.executor.execute_resident(std::span(&work, 1), times);
      return times;
    }
    throw Error(ErrorKind::unavailable, backend_.spec() + " cannot run this operator, because " +
                                            refusal + ": use " + option_text("--cpu"));
  }

  const Plan& plan_;
  Backend& backend_;
  std::vector<std::shared_ptr<gpu::ResidentBuffer>> buffers_;
  std::vector<gpu::ResidentRange> ranges_;  // by slot
  Bytes output_;
};

// The operator's tolerance, and for floats what long sums of numbers lose that cancel each other:
// a bench finds wrong kernels, and leaves precision to tests.
Tolerance bench_tolerance(const OperatorSpec& spec, DataType type,
                          std::span<const std::byte> expected) {
  Tolerance tolerance = spec.default_tolerance(type);
  if (!is_floating(type) || type == DataType::Float64) return tolerance;
  double largest = 0;
  for (std::size_t at = 0; at < expected.size(); at += size_of(type)) {
    const double magnitude = std::abs(element_value(type, &expected[at]));
    if (magnitude > largest && std::isfinite(magnitude)) largest = magnitude;
  }
  const double share = std::max(0x1p-16, std::ldexp(2, -static_cast<int>(info(type).fraction)));
  tolerance.atol = std::max(tolerance.atol.value_or(0), share * largest);
  return tolerance;
}

// Errors: run_failed where an element is further off.
void compare_with_cpu(const OperatorSpec& spec, const Slot& slot, std::span<const std::byte> actual,
                      std::span<const std::byte> expected) {
  const Sizes sizes{slot.elements};
  const Elements must_be(*slot.data_type, sizes, expected);
  Comparator comparator(must_be, *slot.data_type, sizes,
                        bench_tolerance(spec, *slot.data_type, expected));
  comparator.add(0, actual.first(slot.bytes()));
  const Comparison found = comparator.finish([&](std::uint64_t at) { return at; });
  if (found.mismatches > 0)
    throw Error(ErrorKind::run_failed,
                "the device's " + slot.field + " differs from the CPU's: " + found.summary());
}

}  // namespace

void bench_gpu(const OperatorSpec& spec, const Plan& plan, SlotBytes inputs, Backend& backend,
               const BenchOptions& options, BenchResult& result) {
  const unsigned threads =
      options.execution.threads != 0 ? options.execution.threads : hardware_threads();
  PlanOnDevice measured(plan, inputs, backend);
  PlanInMemory on_cpu(plan, inputs, threads);
  on_cpu.run();
  for (const std::size_t slot : plan.slots_of(SlotKind::output))
    compare_with_cpu(spec, plan.slots[slot], measured.output(slot), on_cpu.output(slot));
  const Measured not_copied{std::nullopt, "the tensors stay on the device"};
  result.upload_seconds = result.download_seconds = not_copied;
  CopyOnDevice copy(*backend.gpu()->device, result.input_bytes + result.output_bytes);
  // Kernels and copy take turns: clocks that change while they run change both.
  std::vector<double> copies;
  bool has_timestamps = false;
  result.seconds = measure(options, gpu_warm_up_seconds, [&] {
    if (const auto seconds = copy.run()) copies.push_back(*seconds);
    const auto start = BenchClock::now();
    const auto seconds = measured.repeat();
    has_timestamps = seconds.has_value();
    return seconds.value_or(seconds_since(start));
  });
  result.clock = has_timestamps ? "device" : "wall";
  // Those of the warm-up, which came first, do not count.
  copies.erase(copies.begin(), copies.end() - static_cast<std::ptrdiff_t>(
                                                  std::min(copies.size(), result.seconds.size())));
  std::sort(copies.begin(), copies.end());
  result.copy_bytes_per_second = copies.empty()
                                     ? Measured{std::nullopt, "the device has no timestamps"}
                                     : Measured{copy.bytes_moved() / copies[copies.size() / 2], ""};
}

}  // namespace dmlop
