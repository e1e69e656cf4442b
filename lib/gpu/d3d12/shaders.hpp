// Kernels as Direct3D runs them: HLSL, compiled when it is first needed, and kept on disk between
// runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace dmlop::gpu::d3d12 {

/// The shader of a kernel, compiled or from the disk. A specialization becomes the macros
/// SPECIALIZATION_0, SPECIALIZATION_1, ... Errors: run_failed when the kernel does not exist or
/// does not compile, with the compiler's text; unavailable without a compiler.
std::vector<std::byte> shader_code(const std::string& kernel,
                                   std::span<const std::uint32_t> specialization);

/// The same, always compiled.
std::vector<std::byte> compile_shader(const std::string& kernel,
                                      std::span<const std::uint32_t> specialization);

}  // namespace dmlop::gpu::d3d12
