// Runs kernels one after the other: uploads, launches with what they wait for, downloads. All
// backends are given work this way only.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/buffer_pool.hpp"
#include "gpu/commands.hpp"
#include "gpu/device.hpp"
#include "gpu/launches.hpp"

namespace dmlop::gpu {

/// Between ranges of the same number of bytes.
struct RangeCopy {
  ResidentRange from, to;
};

/// A kernel on ranges that begin at multiples of range_alignment. No output overlaps another of the
/// kernel's ranges, and each ends with its buffer or at a multiple of 16 bytes.
struct KernelRun {
  const Dispatch* dispatch = nullptr;
  std::vector<ResidentRange> inputs;
  std::vector<ResidentRange> outputs;
};

/// What a device does in one go: copies, then kernels that each see what those before them wrote,
/// then copies.
struct StreamWork {
  std::vector<RangeCopy> copies_before = {};
  std::vector<KernelRun> kernels = {};
  std::vector<RangeCopy> copies_after = {};
};

/// Beside other streams of its device. It has the work of one run() in flight at most, and
/// keeps staging and device memory for the next, growing as needed. Errors of all calls: as
/// Commands. A stream that failed is not used again.
class Stream {
 public:
  /// The device must outlive it. The pool is the device's: what it keeps makes room for what the
  /// stream needs.
  Stream(Device& device, std::shared_ptr<BufferPool> pool);
  explicit Stream(Device& device) : Stream(device, std::make_shared<BufferPool>(device)) {}

  /// Host memory whose bytes the next run() uploads to the range, before anything else.
  std::span<std::byte> upload(const ResidentRange& to);
  /// Makes room for what run() keeps for works on the device. Returns whether there is any.
  bool make_room(std::span<const StreamWork> works, MakeRoom make_room);
  /// Does each work after the one before it, then downloads a range, if one is given. The device
  /// gets all of it together, or as much at a time as the kernels' paces allow. Returns when no
  /// more than a short piece of it is left to be done.
  void run(std::span<const StreamWork> works, const ResidentRange* download = nullptr);
  void run(const StreamWork& work, const ResidentRange* download = nullptr) {
    run(std::span(&work, 1), download);
  }
  /// Waits for run(); the bytes that were downloaded, valid until the next one.
  std::span<const std::byte> finish();
  /// Of the last run().
  const DispatchTimes& times() const { return times_; }

  /// Copies between the host and the device, done on return.
  void write(const ResidentRange& to, std::span<const std::byte> bytes);
  void read(const ResidentRange& from, std::span<std::byte> bytes);
  /// Between ranges of the same number of bytes.
  void copy(const ResidentRange& from, const ResidentRange& to);

 private:
  /// A buffer that grows as needed and is used from its first byte on.
  class Room {
   public:
    explicit Room(Place place) : place_(place) {}
    /// Its first bytes; what it held is lost where it has to grow.
    ResidentRange range(BufferPool& pool, std::uint64_t bytes,
                        MakeRoom make_room = MakeRoom::of_kept_also);

   private:
    Place place_;
    std::unique_ptr<ResidentBuffer> buffer_;
  };

  static std::vector<KernelRun> kernels_of(std::span<const StreamWork> works);
  std::vector<Bindings> bindings_for(std::span<const KernelRun> kernels,
                                     MakeRoom make_room = MakeRoom::of_kept_also);
  void record_work(const StreamWork& work, std::span<const Bindings> bindings);
  void record_copies(std::span<const RangeCopy> copies);
  void record_parameters(std::span<const KernelRun> kernels, std::span<const Bindings> bindings);
  void record_kernels(std::span<const KernelRun> kernels, std::span<const Bindings> bindings);
  void record_launches(const Dispatch& dispatch, const Bindings& bindings);
  void begin_next_list();
  void submit_kernels();
  void submit(const std::string& doing);
  void wait();
  void take_times();

  Device& device_;
  std::shared_ptr<BufferPool> pool_;
  // What a device may still use is freed after the commands, which wait for it.
  std::vector<Room> uploads_;
  Room download_{Place::download};
  Room parameter_upload_{Place::upload};
  Room parameters_{Place::device};
  Room scratch_{Place::device};
  std::unique_ptr<Commands> commands_;
  std::vector<RangeCopy> pending_;  // uploads
  std::span<const std::byte> downloaded_;
  bool is_busy_ = false;
  // Of the list that is recorded or in flight.
  std::vector<std::string> kernels_;  // that it binds
  std::size_t launches_ = 0;
  GivenWork given_;
  std::chrono::steady_clock::time_point submitted_;
  DispatchTimes times_;
};

}  // namespace dmlop::gpu
