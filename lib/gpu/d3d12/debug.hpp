// Direct3D's debug layer, which checks every call: it is on where DMLOP_D3D12_DEBUG is set.
#pragma once

#include <string>

#include "gpu/d3d12/api.hpp"

namespace dmlop::gpu::d3d12 {

/// Switches the layer on, if it is wanted, for devices that are opened afterwards. Why it cannot,
/// with a remedy; "" where it could or is not wanted.
std::string enable_debug_layer();

/// The layer's messages about a device, for standard error. Without the layer there are none.
class DebugMessages {
 public:
  /// Of a device that is open.
  void listen_to(ID3D12Device& device);
  DebugMessages() = default;
  DebugMessages(const DebugMessages&) = delete;
  DebugMessages& operator=(const DebugMessages&) = delete;
  ~DebugMessages() { print_new(); }

  /// Prints what came since the last time: errors, warnings and corruptions. May be called by
  /// several threads.
  void print_new() noexcept;

 private:
  ComPtr<ID3D12InfoQueue> messages_;
};

}  // namespace dmlop::gpu::d3d12
