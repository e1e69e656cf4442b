// What a GPU is to the rest of the library: an interface that each backend implements. No operator,
// plan or test knows which backend runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/device_info.hpp"

namespace dmlop::gpu {

/// Kernels may load a vector before the first and behind the last element of input 0: on the device
/// its first element stands this many bytes into the buffer, and as many are free behind the last.
inline constexpr std::uint64_t input_slack_bytes = 64;

/// The most work of one thread: iterations of all its loops together. The test that ends a loop
/// counts as an iteration, and so does one of each loop that llvmpipe enters although a condition
/// rules it out. llvmpipe silently ends all loops after 65,535 iterations. A group of threads is
/// the least that a device can be given, so it must end long before a watchdog takes the device for
/// hung.
inline constexpr std::uint64_t thread_work_limit = 60'000;

/// Threads [first, end) of a kernel. They do not depend on each other: a device gets as many at a
/// time as it completes in a short while (launches.hpp).
struct Stage {
  /// `work` is the most that one of the threads may do, and at least 1. Errors: std::logic_error
  /// where it is more than thread_work_limit.
  Stage(std::uint64_t first, std::uint64_t end, std::uint64_t work);

  std::uint32_t first;
  std::uint32_t end;
  std::uint32_t work;
  std::uint32_t step = 0;  // what else shaders/common.hlsli tells the threads
  std::uint32_t base = 0;
  bool writes_state = false;  // input 1 takes the place of the output
};

/// A kernel's stages over whole buffers: inputs 0 to 2 and the output of shaders/common.hlsli.
struct Dispatch {
  std::string kernel;                         // a variant's name: "lp_pooling_4_2_3"
  std::vector<std::uint32_t> specialization;  // of its SPECIALIZED constants, by number
  std::array<std::uint32_t, 28> constants{};
  std::vector<Stage> stages;         // each sees what those before it wrote
  std::vector<std::uint32_t> table;  // becomes input 2, where not empty
  std::uint64_t state_bytes = 0;     // what stages leave to later ones, in input 1
  std::uint64_t output_bytes = 0;    // rounded up to 16 by the device
};

/// Threads of a group, as in shaders/common.hlsli and resident.hlsli. A launch is whole groups.
inline constexpr std::uint64_t group_threads = 256;

/// What a resident kernel can have (shaders/resident.hlsli).
inline constexpr std::size_t resident_inputs_most = 8;
inline constexpr std::size_t resident_outputs_most = 3;

/// Where ranges begin that a resident kernel is given.
inline constexpr std::uint64_t resident_alignment = 256;

/// A kernel's stages over ranges of resident buffers. The kernel's file says what its numbers mean.
struct ResidentDispatch {
  std::string kernel;                         // a file of shaders/: "reduce"
  std::vector<std::uint32_t> specialization;  // of its SPECIALIZED constants, by number
  std::vector<std::uint32_t> parameters;
  std::vector<std::size_t> inputs;  // of the plan's pass, in the kernel's order
  std::vector<Stage> stages;        // each sees what those before it wrote
  std::uint64_t scratch_bytes = 0;  // what stages leave to later ones
  /// Takes the place of this one where a device has_matrices; at most one.
  std::vector<ResidentDispatch> with_matrices;
};

/// Memory that keeps its bytes on the device from dispatch to dispatch; streams of its device read
/// and write it.
class ResidentBuffer {
 public:
  explicit ResidentBuffer(std::uint64_t bytes) : bytes_(bytes) {}
  virtual ~ResidentBuffer() = default;
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_;
};

/// Bytes [offset, offset + bytes) of a buffer.
struct ResidentRange {
  ResidentBuffer* buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// Dispatches one after the other, beside those of other streams. Each has room for one dispatch in
/// flight: staging and device memory, kept and reused, growing as needed.
/// Errors of all calls: run_failed or device_lost, naming what was being done. A stream that failed
/// is not used again; its destructor waits for what is in flight.
class Stream {
 public:
  virtual ~Stream() = default;
  /// Host memory of at least `bytes` that becomes input `index` of the next submit().
  virtual std::span<std::byte> input(std::size_t index, std::uint64_t bytes) = 0;
  /// The range becomes input `index` of the next submit() as it is then.
  virtual void input(std::size_t index, const ResidentRange& range) = 0;
  /// Uploads the inputs, runs, downloads; returns when no more than a short piece of work is left
  /// to be done. With `output` the result goes there instead of to the host, so many bytes as the
  /// range has. Errors: also as check_for_stop().
  virtual void submit(const Dispatch& dispatch, const ResidentRange* output = nullptr) = 0;
  /// Waits for submit(); the output's bytes, valid until the next submit().
  virtual std::span<const std::byte> finish() = 0;
  virtual DispatchTimes times() const = 0;
  /// Runs a kernel on ranges that begin at multiples of resident_alignment. No output overlaps
  /// another range, and each ends with its buffer or at a multiple of 16 bytes. Returns as
  /// submit().
  virtual void run(const ResidentDispatch& dispatch, std::span<const ResidentRange> inputs,
                   std::span<const ResidentRange> outputs) = 0;
  /// Copies between the host and the device, done on return.
  virtual void write(const ResidentRange& to, std::span<const std::byte> bytes) = 0;
  virtual void read(const ResidentRange& from, std::span<std::byte> bytes) = 0;
  /// Runs a dispatch again on what the last submit() left on the device; seconds on the device.
  virtual std::optional<double> repeat(const Dispatch& dispatch) = 0;
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// The largest buffer a kernel can be given, in bytes.
  virtual std::uint64_t buffer_bytes_limit() const = 0;
  /// Why it runs no resident kernels, in words that follow "because"; "" where it does.
  virtual std::string resident_refusal() const = 0;
  /// Compiles what the dispatch runs, so that it need not when its turn comes. Several threads may
  /// do so at once. Errors: run_failed.
  virtual void prepare(const ResidentDispatch& dispatch) = 0;
  virtual std::unique_ptr<Stream> make_stream() = 0;
  /// Errors: run_failed where the device has no room for it; device_lost.
  virtual std::unique_ptr<ResidentBuffer> make_resident_buffer(std::uint64_t bytes) = 0;
};

}  // namespace dmlop::gpu
