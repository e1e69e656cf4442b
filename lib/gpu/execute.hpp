// Runs kernels on a GPU: on buffers of the device, or from the host's memory, cut into tiles of
// which several are in flight.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "gpu/buffer_pool.hpp"
#include "gpu/device.hpp"
#include "gpu/steps.hpp"
#include "gpu/stream.hpp"
#include "ops/kernel.hpp"

namespace dmlop::gpu {

struct ExecuteOptions {
  unsigned threads = 1;  // of the host, for filling and emptying staging
  /// At most so much in buffers on the device, but 16 KiB are always used; 0: a sensible amount.
  std::uint64_t device_memory_bytes = 0;
};

/// Receives output bytes [offset, offset + bytes.size()); may be called from several threads at
/// once.
using Sink = std::function<void(std::uint64_t offset, std::span<const std::byte> bytes)>;

/// How a device runs a kernel in tiles.
struct TileUse {
  /// Why it cannot, in words that follow "because"; "" where it can.
  std::string refusal = {};
  /// How often an element of the inputs is uploaded, on average (TileGrid::copies()).
  double copies = 1;
};
TileUse tile_use(const Device& device, const Kernel& kernel, const ExecuteOptions& options);

/// Compiles what Executor::execute() runs, as prepare() of steps.hpp. Errors: run_failed.
void prepare_tiles(Device& device, const Kernel& kernel, const ExecuteOptions& options);

/// The steps of a plan (gpu/steps.hpp) on ranges of buffers, by slot of the plan. Those of slots
/// that no step names are not looked at.
struct ResidentWork {
  std::vector<Step> steps;
  std::vector<ResidentRange> slots;
  std::vector<std::shared_ptr<ResidentBuffer>> held = {};  // until the work is done
};

/// What a device keeps from run to run: its streams, and its memory.
class Executor {
 public:
  explicit Executor(Device& device)
      : device_(device), pool_(std::make_shared<BufferPool>(device)) {}

  /// Executes the kernel in tiles; every output byte reaches the sink once; the tiles' times are
  /// added up. False, with nothing done, where tile_use() refuses it. Errors: run_failed, and what
  /// the sink throws.
  [[nodiscard]] bool execute(const Kernel& kernel,
                             std::span<const std::span<const std::byte>> inputs,
                             const ExecuteOptions& options, const Sink& sink, DispatchTimes& times);

  /// A buffer of the device, as of BufferPool::take(). Errors: run_failed.
  std::shared_ptr<ResidentBuffer> make_resident_buffer(std::uint64_t bytes) {
    return pool_->take(bytes);
  }
  /// As BufferPool::give_up_with().
  void give_up_with(std::function<bool()> give_up) { pool_->give_up_with(std::move(give_up)); }
  /// Frees the memory of the device that nobody holds.
  void free_unused_memory() { pool_->clear(); }

  /// Why the device cannot give kernels the buffers of the work, their scratch among them, in words
  /// that follow "because"; "" where it can.
  std::string resident_refusal(const ResidentWork& work) const;
  /// Makes the room that the work needs beside its slots. Returns whether there is any.
  bool make_room(const ResidentWork& work);
  /// Executes works that are not refused, each after the one before it. Errors: run_failed.
  void execute_resident(std::span<const ResidentWork> works, DispatchTimes& times);
  /// The same, but returns while the device may still do it. What was submitted before is done
  /// then. Whatever is given to the device afterwards sees what the works write.
  void submit_resident(std::span<const ResidentWork> works);
  /// Waits for what was submitted. Returns whether buffers were held for it. Errors: run_failed.
  bool finish_resident();
  /// Copies between the host and a buffer of the device. Errors: run_failed.
  void write(const ResidentRange& to, std::span<const std::byte> bytes);
  void read(const ResidentRange& from, std::span<std::byte> bytes);

  /// Waits for what a failed execute() left running and forgets it.
  void reset() {
    sets_.clear();
    pool_->clear();
  }

 private:
  /// A tile in flight: its stream, and buffers for its inputs and its output. Or works in flight.
  struct Set {
    Set(Device& device, const std::shared_ptr<BufferPool>& pool) : stream(device, pool) {}
    /// A buffer that grows as needed; what it held is then lost.
    ResidentRange range(BufferPool& pool, std::size_t index, std::uint64_t bytes);

    /// Waits for what its stream does.
    void finish();

    std::vector<std::unique_ptr<ResidentBuffer>> buffers;
    std::vector<std::shared_ptr<ResidentBuffer>> held;  // by works that were submitted
    Stream stream;                                      // waits before the buffers are freed
  };
  class TileRunner;

  Set& set(std::size_t index);
  Stream& first_stream() { return set(0).stream; }
  StreamWork stream_work(const ResidentWork& resident,
                         std::vector<std::shared_ptr<ResidentBuffer>>& held);

  Device& device_;
  std::shared_ptr<BufferPool> pool_;
  std::size_t next_set_ = 0;                // of works that are submitted
  std::vector<std::unique_ptr<Set>> sets_;  // go first: their streams wait for what uses the others
};

}  // namespace dmlop::gpu
