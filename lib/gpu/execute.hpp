// Runs a kernel on a GPU: cuts it into tiles, keeps several in flight, and hands out what each tile
// computed.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "gpu/device.hpp"
#include "gpu/steps.hpp"
#include "ops/kernel.hpp"

namespace dmlop::gpu {

struct ExecuteOptions {
  unsigned threads = 1;  // of the host, for filling and emptying staging
  /// At most so much in buffers on the device, but 4 KiB are always used; 0: a sensible amount.
  std::uint64_t device_memory_bytes = 0;
};

/// Receives output bytes [offset, offset + bytes.size()); may be called from several threads at
/// once.
using Sink = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;

/// What a device keeps from run to run: its streams.
class Executor {
 public:
  explicit Executor(Device& device) : device_(device) {}

  /// Why a kernel cannot run here in tiles, in words that follow "because"; "" where it can.
  std::string refusal(const Kernel& kernel, const ExecuteOptions& options) const;
  /// Why it cannot run on whole buffers of the device, given as for execute_resident().
  std::string resident_refusal(const Kernel& kernel, std::span<const ResidentRange> inputs,
                               std::span<const ResidentRange> outputs) const;

  /// Executes the kernel; every output byte reaches the sink once; the tiles' times are added up.
  /// False, with nothing done, where it is refused. Errors: run_failed, and what the sink throws.
  bool execute(const Kernel& kernel, std::span<const std::span<const std::byte>> inputs,
               const ExecuteOptions& options, const Sink& sink, DispatchTimes& times);

  /// The same of a step of a plan, none of whose kernels is refused (gpu/steps.hpp).
  std::string resident_refusal(const Step& step, std::span<const ResidentRange> inputs,
                               std::span<const ResidentRange> outputs) const;

  /// Executes a kernel that is not refused on buffers of the device; the ranges are its inputs and
  /// outputs. Errors: run_failed.
  void execute_resident(const Kernel& kernel, std::span<const ResidentRange> inputs,
                        std::span<const ResidentRange> outputs, DispatchTimes& times);
  /// The same of a step.
  void execute_resident(const Step& step, std::span<const ResidentRange> inputs,
                        std::span<const ResidentRange> outputs, DispatchTimes& times);
  /// Copies between the host and a buffer of the device. Errors: run_failed.
  void write(const ResidentRange& to, std::span<const std::byte> bytes);
  void read(const ResidentRange& from, std::span<std::byte> bytes);

  /// Waits for what a failed execute() left running and forgets it.
  void reset() { streams_.clear(); }

 private:
  Stream& first_stream();
  std::string untiled_refusal(std::span<const ResidentRange> inputs,
                              std::span<const ResidentRange> outputs) const;
  std::string tiled_refusal(const Kernel& kernel) const;
  void execute_untiled(std::span<const ResidentDispatch> dispatches,
                       std::span<const ResidentRange> inputs,
                       std::span<const ResidentRange> outputs, DispatchTimes& times);
  void execute_tiled(const Kernel& kernel, std::span<const ResidentRange> inputs,
                     const ResidentRange& output, DispatchTimes& times);

  Device& device_;
  std::vector<std::unique_ptr<Stream>> streams_;
};

}  // namespace dmlop::gpu
