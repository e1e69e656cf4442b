// The compiled kernels, embedded when the program is built.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace dmlop::gpu {

struct Kernel {
  std::string_view name;
  std::span<const std::uint32_t> spirv;
};

/// The SPIR-V of a kernel variant; empty where none has this name.
std::span<const std::uint32_t> find_kernel(std::string_view name);

}  // namespace dmlop::gpu
