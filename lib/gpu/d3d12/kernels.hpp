// The kernels as HLSL, embedded when the program is built (shaders/kernels.cmake): Direct3D
// compiles them at first use.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace dmlop::gpu::d3d12 {

/// A kernel variant.
struct KernelSource {
  std::string_view name;         // "window_norm_float16"
  std::string_view file;         // "index_map.hlsl", for the compiler's messages
  std::string_view text;         // complete, without #include
  std::string_view definitions;  // "RANK=3;REVERSAL=0"
};

std::span<const KernelSource> kernel_sources();

/// The source of a kernel variant; nothing where none has this name.
std::optional<KernelSource> find_kernel(std::string_view name);

}  // namespace dmlop::gpu::d3d12
