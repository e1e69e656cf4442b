// Runs dispatches one after the other: uploads, launches with what they wait for, downloads. All
// backends are given work this way only.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gpu/commands.hpp"
#include "gpu/device.hpp"

namespace dmlop::gpu {

/// Beside other streams of its device. It has room for one dispatch in flight: staging and device
/// memory, kept and reused, growing as needed. Errors of all calls: as Commands. A stream that
/// failed is not used again.
class Stream {
 public:
  /// The device must outlive it.
  explicit Stream(Device& device);

  /// Host memory whose bytes the next run() uploads to the range, before anything else.
  std::span<std::byte> upload(const ResidentRange& to);
  /// Runs a kernel on ranges that begin at multiples of range_alignment. No output overlaps
  /// another range, and each ends with its buffer or at a multiple of 16 bytes. Then downloads a
  /// range, if one is given. Returns when no more than a short piece of work is left to be done.
  void run(const Dispatch& dispatch, std::span<const ResidentRange> inputs,
           std::span<const ResidentRange> outputs, const ResidentRange* download = nullptr);
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
    ResidentRange range(Device& device, std::uint64_t bytes);

   private:
    Place place_;
    std::unique_ptr<ResidentBuffer> buffer_;
  };
  struct Upload {
    ResidentRange from, to;
  };

  Bindings bindings_for(const Dispatch& dispatch, std::span<const ResidentRange> inputs,
                        std::span<const ResidentRange> outputs);
  void record_uploads(const Dispatch& dispatch, const ResidentRange& parameters);
  void launch_all(const Dispatch& dispatch, const Bindings& bindings);
  void submit(const std::string& doing);
  void wait();
  void take_times();

  Device& device_;
  // What a device may still use is freed after the commands, which wait for it.
  std::vector<Room> uploads_;
  Room download_{Place::download};
  Room parameter_upload_{Place::upload};
  Room parameters_{Place::device};
  Room scratch_{Place::device};
  std::unique_ptr<Commands> commands_;
  std::vector<Upload> pending_;
  std::span<const std::byte> downloaded_;
  bool is_busy_ = false;
  std::uint64_t work_ = 0;  // of the launches in flight
  std::chrono::steady_clock::time_point submitted_;
  DispatchTimes times_;
};

}  // namespace dmlop::gpu
