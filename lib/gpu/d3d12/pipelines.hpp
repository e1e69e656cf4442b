// Compute pipelines by kernel and specialization, made at first use and kept.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "gpu/d3d12/api.hpp"
#include "gpu/device.hpp"
#include "gpu/launches.hpp"

namespace dmlop::gpu::d3d12 {

/// What kernels are given: constants (b0), buffers that they read (t0, t1, ...) and buffers that
/// they write (u0, u1, ...). They are the root signature's parameters, in this order.
struct RootLayout {
  UINT constants = 0;
  UINT inputs = 0;
  UINT outputs = 0;
  ComPtr<ID3D12RootSignature> signature;

  UINT first_input() const { return 1; }
  UINT first_output() const { return 1 + inputs; }
  UINT parameters() const { return 1 + inputs + outputs; }
};

class Pipelines {
 public:
  explicit Pipelines(ID3D12Device& device);

  /// May be called by several threads at once, which then compile beside one another.
  /// Errors: as shader_code(); run_failed where the driver refuses the kernel.
  ID3D12PipelineState* find(const Dispatch& dispatch);
  /// That of all kernels (shaders/bindings.hlsli).
  const RootLayout& layout() const { return layout_; }

 private:
  /// The place of a pipeline, whether or not it has been made.
  struct Slot {
    std::mutex mutex;  // of who makes it
    ComPtr<ID3D12PipelineState> pipeline;
  };
  Slot& find_slot(const std::string& kernel, std::span<const std::uint32_t> specialization);

  ID3D12Device& device_;
  RootLayout layout_;
  std::map<std::pair<std::string, std::vector<std::uint32_t>>, Slot> slots_;
  std::mutex mutex_;  // of slots_
};

}  // namespace dmlop::gpu::d3d12
