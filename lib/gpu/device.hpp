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

/// Memory of a device, or of the host for copies from and to it.
enum class Place { device, upload, download };

/// So many bytes in front of a buffer of the device, and behind it, can be loaded: kernels may load
/// whole vectors around their first and last element.
inline constexpr std::uint64_t slack_bytes = 256;

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
  std::uint32_t step = 0;  // what else shaders/bindings.hlsli tells the threads
  std::uint32_t base = 0;
};

/// Threads of a group, as in shaders/bindings.hlsli. A launch is whole groups.
inline constexpr std::uint64_t group_threads = 256;

/// What a kernel can have (shaders/bindings.hlsli).
inline constexpr std::size_t inputs_most = 8;
inline constexpr std::size_t outputs_most = 3;
inline constexpr std::size_t constants_most = 28;  // words

/// Where ranges begin that a kernel is given.
inline constexpr std::uint64_t range_alignment = 256;
static_assert(slack_bytes % range_alignment == 0);

/// A kernel's stages over ranges of buffers. The kernel's file says what its numbers mean.
struct Dispatch {
  std::string kernel;                         // a variant's name: "window_norm_float16"
  std::vector<std::uint32_t> specialization;  // of its SPECIALIZED constants, by number
  std::vector<std::uint32_t> constants;       // that come with each launch
  std::vector<std::uint32_t> parameters;      // that stand in a buffer
  std::vector<std::size_t> inputs;            // of the plan's pass, in the kernel's order
  bool loads_around = false;                  // its first input, within slack_bytes
  std::vector<Stage> stages;                  // each sees what those before it wrote
  std::uint64_t scratch_bytes = 0;            // what stages leave to later ones
  /// Takes the place of this one where a device has_matrices; at most one.
  std::vector<Dispatch> with_matrices;
};

/// Memory that keeps its bytes from dispatch to dispatch.
class ResidentBuffer {
 public:
  explicit ResidentBuffer(std::uint64_t bytes) : capacity_(bytes), bytes_(bytes) {}
  virtual ~ResidentBuffer() = default;
  std::uint64_t bytes() const { return bytes_; }
  /// What it was made with.
  std::uint64_t capacity() const { return capacity_; }
  /// Makes it one of the first so many bytes, at most its capacity; the others are slack.
  void use_first(std::uint64_t bytes) { bytes_ = bytes; }
  /// Its bytes on the host; none in Place::device.
  virtual std::span<std::byte> mapped() { return {}; }

 private:
  std::uint64_t capacity_;
  std::uint64_t bytes_;
};

/// Bytes [offset, offset + bytes) of a buffer.
struct ResidentRange {
  ResidentBuffer* buffer = nullptr;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class Commands;  // gpu/commands.hpp
class Paces;     // gpu/launches.hpp

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// The largest buffer a kernel can be given, in bytes.
  virtual std::uint64_t buffer_bytes_limit() const = 0;
  /// Why it runs no kernels, in words that follow "because"; "" where it does.
  virtual std::string refusal() const = 0;
  /// Compiles what the dispatch runs, so that it need not when its turn comes. Several threads may
  /// do so at once. Errors: run_failed.
  virtual void prepare(const Dispatch& dispatch) = 0;
  virtual std::unique_ptr<Commands> make_commands() = 0;
  /// Errors: run_failed where there is no room for it; device_lost.
  virtual std::unique_ptr<ResidentBuffer> make_buffer(Place place, std::uint64_t bytes) = 0;
  std::unique_ptr<ResidentBuffer> make_resident_buffer(std::uint64_t bytes) {
    return make_buffer(Place::device, bytes);
  }
  /// How much work of each kernel it is given at a time.
  virtual Paces& paces() = 0;
};

}  // namespace dmlop::gpu
