// What a Direct3D 12 device and its streams share.
#pragma once

#include <memory>

#include "gpu/d3d12/api.hpp"
#include "gpu/d3d12/pipelines.hpp"
#include "gpu/launches.hpp"

namespace dmlop::gpu::d3d12 {

struct Context {
  ComPtr<ID3D12Device> device;
  ComPtr<ID3D12CommandQueue> queue;
  std::unique_ptr<Pipelines> pipelines;
  double seconds_per_tick = 0;  // 0: no timestamps
  Pace pace;
};

}  // namespace dmlop::gpu::d3d12
