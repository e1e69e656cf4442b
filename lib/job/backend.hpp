// Where plans are executed: the CPU, or one GPU that is opened once and reused.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "gpu/execute.hpp"
#include "ops/plan.hpp"

namespace dmlop {

struct ExecutionOptions {
  unsigned threads = 0;                   // CPU threads; 0: as many as the machine has
  std::uint64_t device_memory_bytes = 0;  // limit for buffers on the GPU; 0: a sensible amount
  std::uint64_t host_memory_bytes = 0;    // limit for temporaries on the CPU; 0: none
  bool strict_indices = false;            // those out of range end a run (job/strict_indices.hpp)
};

/// The bytes of each input slot of a plan; empty for its other slots.
using SlotBytes = std::span<const std::span<const std::byte>>;

/// Receives bytes [offset, offset + bytes.size()) of an output slot; may be called from several
/// threads at once.
using OutputSink =
    std::function<void(std::size_t slot, std::uint64_t offset, std::span<const std::byte> bytes)>;

/// The memory of each output slot of a plan; empty for its other slots. None may overlap an input.
using SlotMemory = std::span<const std::span<std::byte>>;

/// How a plan was executed.
struct Execution {
  gpu::DispatchTimes times;
  std::string device;  // what ran it: "cpu", or a GPU's spec
  std::string notice;  // one line for the user where that was not the backend's GPU; else ""
};

class HostPlan;

class Backend {
 public:
  /// The CPU.
  Backend();
  /// The device asked for, opened. Errors: usage, unavailable (no such device), run_failed.
  explicit Backend(const gpu::DeviceRequest& request);
  /// A device that was opened already.
  explicit Backend(std::unique_ptr<gpu::Device> device);
  ~Backend();
  Backend(Backend&&) noexcept;

  /// "cpu", or the GPU's spec such as "vulkan:0".
  std::string spec() const;
  /// What kind of device it is, whatever its number: "cpu", or a GPU's name.
  std::string kind() const;
  /// One line for the user when the choice needs saying; else "".
  const std::string& notice() const { return notice_; }
  bool is_gpu() const { return gpu_ != nullptr; }

  /// Executes a plan; every byte of its outputs reaches the sink exactly once. What a GPU cannot
  /// run is computed on the CPU with a notice where the GPU was chosen automatically. Errors:
  /// unavailable where it was asked for; run_failed, also for temporaries beyond the limit;
  /// interrupted; and what the sink throws. Several threads may call it; they take turns on a GPU.
  Execution execute(const Plan& plan, SlotBytes inputs, const ExecutionOptions& options,
                    const OutputSink& sink);

  /// The same, with outputs in memory. `on_host` is the plan as the CPU runs it again and again;
  /// null: it runs once. Errors: as execute, without a sink.
  Execution execute_into(const Plan& plan, SlotBytes inputs, SlotMemory outputs,
                         const ExecutionOptions& options, HostPlan* on_host = nullptr);

  /// What lets memory of the GPU go that need not be held, and says whether there was any; called
  /// when there is no room. Set before anything runs.
  void give_up_with(std::function<bool()> give_up);
  /// Memory that stays on the GPU from plan to plan; null on the CPU, and where the GPU has no room
  /// for it. Errors: device_lost.
  std::shared_ptr<gpu::ResidentBuffer> make_resident_buffer(std::uint64_t bytes);
  /// A plan on such buffers, given by slot, which is compiled now and executed later; temporaries
  /// get their own. Nothing where the GPU cannot run it so. Errors: run_failed, device_lost.
  std::optional<gpu::ResidentWork> make_resident_work(const Plan& plan,
                                                      std::span<const gpu::ResidentRange> slots);
  /// Executes works, each after the one before it. Errors: run_failed, device_lost, interrupted.
  void execute_resident(std::span<const gpu::ResidentWork> works, gpu::DispatchTimes& times);
  /// As Executor::submit_resident() and finish_resident(). Errors: run_failed.
  void submit_resident(std::span<const gpu::ResidentWork> works);
  void finish_resident();
  /// About how long the GPU takes for it, as far as its kernels' paces are known; 0 on the CPU.
  double estimated_seconds(const gpu::ResidentWork& work) const;
  /// Copies between the host and such a buffer. Errors: as execute_resident.
  void write_resident(const gpu::ResidentRange& to, std::span<const std::byte> bytes);
  void read_resident(const gpu::ResidentRange& from, std::span<std::byte> bytes);

  struct Gpu;
  /// The opened GPU, for measurements; null on the CPU.
  Gpu* gpu() { return gpu_.get(); }

 private:
  /// One user at a time; a failure leaves nothing behind for the next one.
  template <typename Action>
  void on_gpu(Action&& action);
  template <typename Action>
  void preparing(Action&& action);
  /// False, with a notice, where the plan has to run on the CPU.
  bool run_on_gpu(const Plan& plan, SlotBytes inputs, const ExecutionOptions& options,
                  const OutputSink& sink, Execution& execution);
  Error out_of_memory() const;

  KeptThreads threads_;
  std::unique_ptr<Gpu> gpu_;
  bool is_asked_for_ = false;  // the GPU was, by name or kind
  std::string notice_;
};

}  // namespace dmlop
