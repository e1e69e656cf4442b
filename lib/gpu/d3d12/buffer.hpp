// A buffer with memory of its own that only ever grows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gpu/d3d12/api.hpp"
#include "gpu/device.hpp"

namespace dmlop::gpu::d3d12 {

class Buffer {
 public:
  Buffer(ID3D12Device& device, Place place) : device_(device), place_(place) {}

  /// Makes the buffer at least `bytes` large; its content is lost when it grows, and is then
  /// undefined. Errors: run_failed, device_lost.
  void grow(std::uint64_t bytes);
  /// Leaves its memory to the device for good.
  void abandon();
  ID3D12Resource* resource() const { return resource_.Get(); }
  D3D12_GPU_VIRTUAL_ADDRESS address() const { return resource_->GetGPUVirtualAddress(); }
  /// Host address; null for Place::device.
  std::byte* data() const { return mapped_; }

 private:
  ID3D12Device& device_;
  Place place_;
  ComPtr<ID3D12Resource> resource_;
  std::byte* mapped_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace dmlop::gpu::d3d12
