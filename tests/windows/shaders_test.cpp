// Microsoft's compiler accepts every kernel: it is stricter than the one for Vulkan.
#include "gpu/d3d12/shaders.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "base/error.hpp"
#include "gpu/d3d12/kernels.hpp"

namespace dmlop::test::shaders_test {
namespace {

// Of every constant of every kernel: 1 is a type, a size and a rank. There are fewer than 64.
const std::vector<std::uint32_t> specialization(64, 1);

std::string message_of(const gpu::d3d12::KernelSource& kernel) {
  try {
    gpu::d3d12::compile_shader(std::string(kernel.name), specialization);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_CASE("shaders: every kernel compiles") {
  int compiled = 0;
  for (const gpu::d3d12::KernelSource& kernel : gpu::d3d12::kernel_sources()) {
    CHECK(message_of(kernel) == "");
    ++compiled;
  }
  CHECK(compiled >= 15);
}

}  // namespace
}  // namespace dmlop::test::shaders_test
