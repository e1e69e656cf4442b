#include "gpu/d3d12/buffer.hpp"

#include <string>

namespace dmlop::gpu::d3d12 {
namespace {

D3D12_HEAP_TYPE heap_type(Place place) {
  switch (place) {
    case Place::device:
      return D3D12_HEAP_TYPE_DEFAULT;
    case Place::upload:
      return D3D12_HEAP_TYPE_UPLOAD;
    case Place::download:
      break;
  }
  return D3D12_HEAP_TYPE_READBACK;
}

// The state that buffers of a place are created in; those of staging keep it.
D3D12_RESOURCE_STATES initial_state(Place place) {
  switch (place) {
    case Place::device:
      return D3D12_RESOURCE_STATE_COMMON;
    case Place::upload:
      return D3D12_RESOURCE_STATE_GENERIC_READ;
    case Place::download:
      break;
  }
  return D3D12_RESOURCE_STATE_COPY_DEST;
}

}  // namespace

void Buffer::grow(std::uint64_t bytes) {
  if (bytes <= size_) return;
  resource_.Reset();
  mapped_ = nullptr;
  size_ = 0;
  const std::string doing = "allocating " + std::to_string(bytes) + " bytes of " +
                            (place_ == Place::device ? "device memory" : "staging memory");
  const D3D12_HEAP_PROPERTIES heap{.Type = heap_type(place_)};
  const D3D12_RESOURCE_DESC desc{.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
                                 .Width = bytes,
                                 .Height = 1,
                                 .DepthOrArraySize = 1,
                                 .MipLevels = 1,
                                 .SampleDesc = {.Count = 1},
                                 .Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
                                 .Flags = place_ == Place::device
                                              ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
                                              : D3D12_RESOURCE_FLAG_NONE};
  check(device_.CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &desc, initial_state(place_),
                                        nullptr, IID_PPV_ARGS(resource_.GetAddressOf())),
        doing, &device_);
  if (place_ != Place::device) {
    void* address = nullptr;
    check(resource_->Map(0, nullptr, &address), doing, &device_);
    mapped_ = static_cast<std::byte*>(address);
  }
  size_ = bytes;
}

void Buffer::abandon() {
  static_cast<void>(resource_.Detach());
  mapped_ = nullptr;
  size_ = 0;
}

}  // namespace dmlop::gpu::d3d12
