#include "job/backend.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "base/caller.hpp"
#include "base/error.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "gpu/backends.hpp"
#include "gpu/launches.hpp"
#include "gpu/steps.hpp"
#include "job/backend_gpu.hpp"
#include "job/device_plan.hpp"
#include "job/host_plan.hpp"
#include "ops/expand.hpp"

namespace dmlop {
namespace {

// Before anything runs.
void require_room(const Plan& plan, const ExecutionOptions& options) {
  if (options.host_memory_bytes == 0) return;
  const std::uint64_t bytes = as_passes(plan).temporary_bytes();
  if (bytes <= options.host_memory_bytes) return;
  throw Error(ErrorKind::run_failed, "temporary tensors need " + counted(bytes, "byte") + ", and " +
                                         option_text("--host-memory") + " allows " +
                                         std::to_string(options.host_memory_bytes) +
                                         ": allow more, or use smaller tensors");
}

unsigned threads_of(const ExecutionOptions& options) {
  return options.threads != 0 ? options.threads : hardware_threads();
}

}  // namespace

Backend::Backend() = default;
Backend::~Backend() {
  // To close a parent's device would wait for threads that only the parent has.
  if (gpu_ && !gpu_->is_of_this_process()) static_cast<void>(gpu_.release());
}
Backend::Backend(Backend&&) noexcept = default;

Backend::Backend(const gpu::DeviceRequest& request) {
  if (request.text == "cpu") return;  // no driver is touched
  const auto choose = [&] { return choose_device(request, gpu::list_devices()); };
  const gpu::DeviceChoice choice =
      request.origin.empty() ? choose() : with_context(request.origin, choose);
  notice_ = choice.notice;
  is_asked_for_ = !request.text.empty();
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

bool Backend::run_on_gpu(const Plan& plan, SlotBytes inputs, const ExecutionOptions& options,
                         const OutputSink& sink, Execution& execution) {
  if (!gpu_) return false;
  std::string refusal;
  const gpu::ExecuteOptions on_device{threads_of(options), options.device_memory_bytes};
  preparing([&] { dmlop::prepare(*gpu_->device, plan, on_device); });
  on_gpu([&](gpu::Executor& executor) {
    DevicePlan device_plan(plan, *gpu_->device, executor);
    refusal = device_plan.run(inputs, on_device, sink, execution.times);
  });
  if (refusal.empty()) return true;
  if (is_asked_for_)
    throw Error(ErrorKind::unavailable, spec() + " cannot run this operator, because " + refusal +
                                            ": use " + option_text("--cpu") +
                                            ", or leave the choice to dmlop");
  execution.device = "cpu";
  execution.notice = "running on the CPU, because " + refusal;
  return false;
}

Execution Backend::execute(const Plan& plan, SlotBytes inputs, const ExecutionOptions& options,
                           const OutputSink& sink) {
  Execution execution{.times = {}, .device = spec(), .notice = {}};
  if (run_on_gpu(plan, inputs, options, sink, execution)) return execution;
  require_room(plan, options);
  run_on_host(plan, inputs, threads_of(options), sink);
  return execution;
}

Execution Backend::execute_into(const Plan& plan, SlotBytes inputs, SlotMemory outputs,
                                const ExecutionOptions& options, HostPlan* on_host) {
  Execution execution{.times = {}, .device = spec(), .notice = {}};
  const auto copy = [&](std::size_t slot, std::uint64_t offset, std::span<const std::byte> bytes) {
    std::copy(bytes.begin(), bytes.end(), outputs[slot].data() + offset);
  };
  if (run_on_gpu(plan, inputs, options, copy, execution)) return execution;
  require_room(plan, options);
  if (on_host != nullptr)
    on_host->run_into(inputs, outputs, threads_of(options));
  else
    HostPlan(plan).run_into(inputs, outputs, threads_of(options));
  return execution;
}

// What a plan runs is compiled while others have their turn.
template <typename Action>
void Backend::preparing(Action&& action) {
  gpu_->require_this_process();
  try {
    action();
  } catch (const std::bad_alloc&) {
    throw out_of_memory();
  }
}

Error Backend::out_of_memory() const {
  return {ErrorKind::run_failed, "running on " + spec() + ": out of memory"};
}

template <typename Action>
void Backend::on_gpu(Action&& action) {
  gpu_->require_this_process();
  const std::scoped_lock turn(gpu_->turn);
  try {
    action(gpu_->executor);
  } catch (const std::bad_alloc&) {
    gpu_->executor.reset();
    throw out_of_memory();
  } catch (...) {
    gpu_->executor.reset();  // the next plan must not meet this one's dispatches
    throw;
  }
}

std::shared_ptr<gpu::ResidentBuffer> Backend::make_resident_buffer(std::uint64_t bytes) {
  if (!gpu_) return nullptr;
  std::shared_ptr<gpu::ResidentBuffer> buffer;
  on_gpu([&](gpu::Executor& executor) { buffer = try_resident_buffer(executor, bytes); });
  return buffer;
}

std::optional<gpu::ResidentWork> Backend::make_resident_work(
    const Plan& plan, std::span<const gpu::ResidentRange> slots) {
  gpu::ResidentWork work;
  bool is_made = false;
  preparing([&] { gpu::prepare(*gpu_->device, plan); });
  on_gpu([&](gpu::Executor& executor) {
    is_made = DevicePlan(plan, *gpu_->device, executor).make_resident_work(slots, work).empty();
  });
  return is_made ? std::optional(std::move(work)) : std::nullopt;
}

void Backend::execute_resident(std::span<const gpu::ResidentWork> works,
                               gpu::DispatchTimes& times) {
  on_gpu([&](gpu::Executor& executor) { executor.execute_resident(works, times); });
}

void Backend::submit_resident(std::span<const gpu::ResidentWork> works) {
  on_gpu([&](gpu::Executor& executor) { executor.submit_resident(works); });
}

void Backend::finish_resident() {
  on_gpu([](gpu::Executor& executor) { executor.finish_resident(); });
}

void Backend::give_up_with(std::function<bool()> give_up) {
  if (gpu_) gpu_->executor.give_up_with(std::move(give_up));
}

double Backend::estimated_seconds(const gpu::ResidentWork& work) const {
  double sum = 0;
  for (const gpu::Step& step : work.steps) {
    for (const gpu::Dispatch& dispatch : step.dispatches) {
      if (!gpu_) continue;
      sum += gpu_->device->paces().estimated_seconds(
          gpu::chosen_dispatch(dispatch, gpu_->device->info()));
    }
  }
  return sum;
}

void Backend::write_resident(const gpu::ResidentRange& to, std::span<const std::byte> bytes) {
  on_gpu([&](gpu::Executor& executor) { executor.write(to, bytes); });
}

void Backend::read_resident(const gpu::ResidentRange& from, std::span<std::byte> bytes) {
  on_gpu([&](gpu::Executor& executor) { executor.read(from, bytes); });
}

}  // namespace dmlop
