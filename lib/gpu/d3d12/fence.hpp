// The end of submitted work, to wait for.
#pragma once

#include <cstdint>

#include "gpu/d3d12/context.hpp"

namespace dmlop::gpu::d3d12 {

class Fence {
 public:
  /// The context must outlive it. Errors: run_failed, device_lost; also of signal().
  explicit Fence(Context& context);
  Fence(const Fence&) = delete;
  Fence& operator=(const Fence&) = delete;
  ~Fence() {
    if (event_ != nullptr) CloseHandle(event_);
  }

  /// Marks the end of what the queue was given.
  void signal();
  /// True when the end is reached, or the device lost: that completes every fence.
  bool wait(DWORD milliseconds);
  /// Leaves it to the device for good: the end may still be reached.
  void abandon();

 private:
  Context& context_;
  ComPtr<ID3D12Fence> fence_;
  HANDLE event_ = nullptr;
  std::uint64_t value_ = 0;
  std::uint64_t awaited_ = 0;  // the value that the event was asked for
};

}  // namespace dmlop::gpu::d3d12
