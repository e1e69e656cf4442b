// The kernels as SPIR-V, compiled, compressed and embedded when the program is built
// (shaders/kernels.cmake).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace dmlop::gpu::vulkan {

/// The most shared memory that a group of a kernel's threads takes. Kernels that multiply matrices
/// take more (vulkan/matrices.hpp).
inline constexpr std::uint32_t shared_bytes = 32 * 1024;

/// A kernel variant, as a gzip file in memory.
struct Kernel {
  std::string_view name;  // "window_norm_float16"
  const unsigned char* begin;
  const unsigned char* end;

  std::vector<std::uint32_t> spirv() const;
};

std::span<const Kernel> kernels();

/// The kernel variant of this name; null where none has it.
const Kernel* find_kernel(std::string_view name);

}  // namespace dmlop::gpu::vulkan
