// Runs a plan on a GPU. A plan without temporaries, of kernels of which boxes can be taken, is
// streamed: each pass in tiles, from the host's memory to the sink. Any other is resident: all of
// its tensors stay on the device from the first pass to the last. So is a plan whose tiles would
// upload its inputs several times, if its tensors fit.
#pragma once

#include <memory>

#include "gpu/execute.hpp"
#include "gpu/steps.hpp"
#include "job/backend.hpp"

namespace dmlop {

/// Whether a GPU can run the plan in parts, so that tensors may be larger than its buffers.
bool can_be_streamed(const Plan& plan);

/// Compiles what DevicePlan::run() runs, so that it need not when its turn comes. Errors:
/// run_failed.
void prepare(gpu::Device& device, const Plan& plan, const gpu::ExecuteOptions& options);

/// A buffer of the device; null where it has no room. Errors: device_lost.
std::shared_ptr<gpu::ResidentBuffer> try_resident_buffer(gpu::Executor& executor,
                                                         std::uint64_t bytes);

class DevicePlan {
 public:
  /// All must outlive it.
  DevicePlan(const Plan& plan, gpu::Device& device, gpu::Executor& executor)
      : plan_(plan), device_(device), executor_(executor) {}

  /// Returns "" when it is done. Else nothing was done, and the text says why the device cannot run
  /// the plan, in words that follow "because". Errors: as gpu::Executor::execute.
  std::string run(SlotBytes inputs, const gpu::ExecuteOptions& options, const OutputSink& sink,
                  gpu::DispatchTimes& times);

  /// The plan on buffers of the device, given by slot, with temporaries of its own. The text is as
  /// that of run().
  std::string make_resident_work(std::span<const gpu::ResidentRange> slots,
                                 gpu::ResidentWork& work);

 private:
  /// These two return as run() does.
  std::string stream(SlotBytes inputs, const gpu::ExecuteOptions& options, const OutputSink& sink,
                     gpu::DispatchTimes& times);
  std::string upload_and_run(SlotBytes inputs, std::uint64_t device_memory_bytes,
                             const OutputSink& sink, gpu::DispatchTimes& times);
  std::string make_work(gpu::Steps found, std::span<const gpu::ResidentRange> slots,
                        gpu::ResidentWork& work);

  const Plan& plan_;
  gpu::Device& device_;
  gpu::Executor& executor_;
};

}  // namespace dmlop
