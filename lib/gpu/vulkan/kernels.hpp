// The kernels as SPIR-V, compiled and embedded when the program is built (shaders/kernels.cmake).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dmlop::gpu::vulkan {

/// A kernel variant.
struct Kernel {
  std::string_view name;  // "lp_pooling_float16"
  std::span<const std::uint32_t> spirv;
};

std::span<const Kernel> kernels();

/// The SPIR-V of a kernel variant; empty where none has this name.
std::span<const std::uint32_t> find_kernel(std::string_view name);

}  // namespace dmlop::gpu::vulkan
