// Compute pipelines by kernel name, compiled at first use and kept; the compiled shaders are kept
// on disk between runs.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include "gpu/d3d12/api.hpp"

namespace dmlop::gpu::d3d12 {

// The parameters of every kernel's root signature: the constants, the inputs, the output.
inline constexpr UINT constants_parameter = 0;
inline constexpr UINT first_input_parameter = 1;
inline constexpr UINT output_parameter = 4;

class Pipelines {
 public:
  explicit Pipelines(ID3D12Device& device);

  /// Errors: run_failed when the kernel does not exist, does not compile (with the compiler's text)
  /// or is refused by the driver; unavailable without a compiler.
  ID3D12PipelineState* find(const std::string& kernel);
  ID3D12RootSignature* root_signature() const { return root_signature_.Get(); }

 private:
  ID3D12Device& device_;
  ComPtr<ID3D12RootSignature> root_signature_;
  std::map<std::string, ComPtr<ID3D12PipelineState>> pipelines_;
  std::mutex mutex_;
};

}  // namespace dmlop::gpu::d3d12
