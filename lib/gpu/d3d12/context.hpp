// What a Direct3D 12 device and its streams share.
#pragma once

#include <atomic>
#include <memory>

#include "gpu/d3d12/api.hpp"
#include "gpu/d3d12/debug.hpp"
#include "gpu/d3d12/pipelines.hpp"
#include "gpu/launches.hpp"
#include "gpu/memory_budget.hpp"

namespace dmlop::gpu::d3d12 {

struct Context {
  ComPtr<ID3D12Device> device;
  ComPtr<ID3D12CommandQueue> queue;
  std::unique_ptr<Pipelines> pipelines;
  double seconds_per_tick = 0;  // 0: no timestamps
  Paces paces;
  ComPtr<IDXGIAdapter3> adapter;  // null where the system does not tell of its memory
  DebugMessages messages;
  // A dispatch did not end: what it may use is left to it, and nothing more is run.
  std::atomic<bool> hung{false};

  ~Context() {
    if (!hung) return;
    static_cast<void>(pipelines.release());
    static_cast<void>(queue.Detach());
    static_cast<void>(device.Detach());
  }

  /// What the system lets this program have now, of the device's own memory.
  MemoryBudget memory() const {
    DXGI_QUERY_VIDEO_MEMORY_INFO info{};
    if (!adapter ||
        FAILED(adapter->QueryVideoMemoryInfo(0, DXGI_MEMORY_SEGMENT_GROUP_LOCAL, &info)))
      return {};
    return {.budget = info.Budget, .used = info.CurrentUsage};
  }
};

}  // namespace dmlop::gpu::d3d12
