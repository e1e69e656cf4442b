// A GPU on which one call fails as calls of a real one do: memory runs out, or the device is lost.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "gpu/device.hpp"

namespace dmlop::test {

enum class GpuFault {
  out_of_device_memory,  // Error(run_failed)
  out_of_host_memory,    // std::bad_alloc
  device_lost,           // Error(device_lost), as does every later call
};

/// Counts the calls of devices and streams, and lets one of them fail. Threads may share it.
class FaultInjector {
 public:
  /// Makes call number `call`, counted from 0, fail: either instead of its work or after it.
  /// Forgets an earlier fault.
  void arm(GpuFault fault, std::uint64_t call, bool afterwards);
  /// Lets nothing fail any more. A lost device stays lost.
  void disarm();
  /// Whether the fault happened, and in which call.
  bool fired() const;
  std::string call() const;
  bool lost() const;

  /// Wraps a call of this name.
  void before(const char* call);
  void after(const char* call);

  /// The number of streams that exist.
  std::atomic<int> streams{0};

 private:
  /// Throws the fault. The caller holds mutex_.
  void fail(const char* call);

  mutable std::mutex mutex_;  // guards what follows
  GpuFault fault_ = GpuFault::device_lost;
  std::uint64_t wanted_ = 0;
  bool afterwards_ = false;
  bool armed_ = false;
  bool fired_ = false;
  bool lost_ = false;
  std::uint64_t calls_ = 0;
  std::string call_;
};

/// Every message of an injected fault contains this in front of its cause.
inline constexpr const char* injected_call = "injected into ";

/// The device with faults. It and its streams pass all calls on to `inner`. Both arguments must
/// outlive it.
std::unique_ptr<gpu::Device> make_faulty_device(gpu::Device& inner, FaultInjector& injector);

}  // namespace dmlop::test
