#include "job/backend.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "cpu/execute.hpp"
#include "gpu/backends.hpp"
#include "job/backend_gpu.hpp"

namespace dmlop {
namespace {

// A thread computes so much at a time: large enough for system calls not to matter, small enough to
// still be in the cache when it is written.
constexpr std::uint64_t tile_bytes = std::uint64_t{1} << 20;

void execute_on_cpu(const Plan& plan, cpu::Inputs inputs, unsigned threads,
                    const OutputSink& sink) {
  const std::uint64_t size = output_element_size(plan);
  const cpu::Parts parts(plan, tile_bytes);
  std::vector<std::vector<std::byte>> buffers(threads);
  parallel_for(threads, parts.count(), [&](unsigned worker, std::uint64_t index) {
    const cpu::Part part = parts[index];
    const std::uint64_t bytes = part.length * size;
    auto& buffer = buffers[worker];
    if (buffer.size() < part.count * bytes) buffer.resize(part.count * bytes);
    cpu::execute_part(plan, inputs, part, cpu::Stores::cached, buffer.data(), bytes);
    for (std::uint64_t i = 0; i < part.count; ++i)
      sink((part.begin + i * part.step) * size, std::span(buffer).subspan(i * bytes, bytes));
  });
}

unsigned threads_of(const ExecutionOptions& options) {
  return options.threads != 0 ? options.threads : hardware_threads();
}

}  // namespace

Backend::Backend() = default;
Backend::~Backend() = default;
Backend::Backend(Backend&&) noexcept = default;

Backend::Backend(const gpu::DeviceRequest& request) {
  if (request.text == "cpu") return;  // no driver is touched
  const gpu::DeviceChoice choice = choose_device(request, gpu::list_devices());
  notice_ = choice.notice;
  if (!choice.cpu) gpu_ = std::make_unique<Gpu>(gpu::open_device(choice.index));
}

Backend::Backend(std::unique_ptr<gpu::Device> device)
    : gpu_(std::make_unique<Gpu>(std::move(device))) {}

std::string Backend::spec() const {
  return gpu_ ? gpu_->device->info().spec() : "cpu";
}

std::string Backend::kind() const {
  return gpu_ ? gpu_->device->info().name : "cpu";
}

gpu::DispatchTimes Backend::execute(const Plan& plan,
                                    std::span<const std::span<const std::byte>> inputs,
                                    const ExecutionOptions& options, const OutputSink& sink) {
  bool done = false;
  gpu::DispatchTimes times;
  if (gpu_) times = execute_on_gpu(plan, inputs, options, sink, done);
  if (!done) execute_on_cpu(plan, inputs, threads_of(options), sink);
  return times;
}

template <typename Action>
void Backend::on_gpu(Action&& action) {
  const std::scoped_lock turn(gpu_->turn);
  try {
    action(gpu_->executor);
  } catch (const std::bad_alloc&) {
    gpu_->executor.reset();
    throw Error(ErrorKind::run_failed, "running on " + spec() + ": out of memory");
  } catch (...) {
    gpu_->executor.reset();  // the next plan must not meet this one's dispatches
    throw;
  }
}

gpu::DispatchTimes Backend::execute_on_gpu(const Plan& plan,
                                           std::span<const std::span<const std::byte>> inputs,
                                           const ExecutionOptions& options, const OutputSink& sink,
                                           bool& done) {
  gpu::DispatchTimes times;
  on_gpu([&](gpu::Executor& executor) {
    done = executor.execute(plan, inputs, {threads_of(options), options.device_memory_bytes}, sink,
                            times);
  });
  return times;
}

std::unique_ptr<gpu::ResidentBuffer> Backend::make_resident_buffer(std::uint64_t bytes) {
  if (!gpu_) return nullptr;
  std::unique_ptr<gpu::ResidentBuffer> buffer;
  on_gpu([&](gpu::Executor&) {
    try {
      buffer = gpu_->device->make_resident_buffer(bytes);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::run_failed) throw;
    } catch (const std::bad_alloc&) {  // no room on the host's side of it
    }
  });
  return buffer;
}

bool Backend::execute_resident(const Plan& plan, std::span<const gpu::ResidentRange> inputs,
                               const gpu::ResidentRange& output, gpu::DispatchTimes& times) {
  bool done = false;
  on_gpu([&](gpu::Executor& executor) {
    done = executor.execute_resident(plan, inputs, output, times);
  });
  return done;
}

void Backend::write_resident(const gpu::ResidentRange& to, std::span<const std::byte> bytes) {
  on_gpu([&](gpu::Executor& executor) { executor.write(to, bytes); });
}

void Backend::read_resident(const gpu::ResidentRange& from, std::span<std::byte> bytes) {
  on_gpu([&](gpu::Executor& executor) { executor.read(from, bytes); });
}

}  // namespace dmlop
