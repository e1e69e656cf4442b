// The kernels that this build's backend has (shaders/kernels.cmake).
#pragma once

#include <string>

#ifdef _WIN32
#include "gpu/d3d12/kernels.hpp"
#else
#include "gpu/vulkan/kernels.hpp"
#endif

namespace dmlop::test {

/// Whether there is a kernel of this name.
inline bool has_kernel(const std::string& name) {
#ifdef _WIN32
  return gpu::d3d12::find_kernel(name).has_value();
#else
  return gpu::vulkan::find_kernel(name) != nullptr;
#endif
}

}  // namespace dmlop::test
