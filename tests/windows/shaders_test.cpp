// Microsoft's compiler accepts every kernel: it is stricter than the one for Vulkan.
#include "gpu/d3d12/shaders.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "gpu/d3d12/kernels.hpp"

namespace dmlop::test {
namespace {

// More than any kernel has.
constexpr std::size_t specialized_most = 64;

std::string message_of(const gpu::d3d12::KernelSource& kernel, std::uint32_t specialized) {
  try {
    const std::vector<std::uint32_t> specialization(specialized_most, specialized);
    gpu::d3d12::compile_shader(std::string(kernel.name), specialization);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_CASE("shaders: every resident kernel compiles") {
  int compiled = 0;
  for (const gpu::d3d12::KernelSource& kernel : gpu::d3d12::kernel_sources()) {
    if (!kernel.is_resident) continue;
    for (const std::uint32_t specialized : {0U, 1U}) CHECK(message_of(kernel, specialized) == "");
    ++compiled;
  }
  CHECK(compiled >= 15);
}

}  // namespace
}  // namespace dmlop::test
