// Kernels as Direct3D runs them: HLSL, compiled when it is first needed, and kept on disk between
// runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dmlop::gpu::d3d12 {

struct ShaderCode {
  std::vector<std::byte> bytes;
  bool is_kept = false;  // from an earlier run
};

/// The shader of a kernel, compiled or from the disk. A specialization becomes the macros
/// SPECIALIZATION_0, SPECIALIZATION_1, ... Errors: run_failed when the kernel does not exist or
/// does not compile, with the compiler's text; unavailable without a compiler.
ShaderCode shader_code(const std::string& kernel, std::span<const std::uint32_t> specialization);

/// The same, always compiled; it replaces what was kept.
std::vector<std::byte> compile_again(const std::string& kernel,
                                     std::span<const std::uint32_t> specialization);

/// The same, and nothing is kept.
std::vector<std::byte> compile_shader(const std::string& kernel,
                                      std::span<const std::uint32_t> specialization);

}  // namespace dmlop::gpu::d3d12
