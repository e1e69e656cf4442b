// Every kernel that the program holds is a valid module: glslang has reported success for
// invalid ones.
#include <doctest/doctest.h>

#include <string>

#include "folder.hpp"
#include "gpu/vulkan/kernels.hpp"
#include "program.hpp"
#include "spirv_tools.hpp"

namespace dmlop::test::vulkan_modules_test {
namespace {

TEST_CASE("Vulkan: every kernel is a valid module") {
  REQUIRE(has_command("spirv-val"));
  const Folder folder;
  for (const gpu::vulkan::Kernel& kernel : gpu::vulkan::kernels()) {
    CAPTURE(kernel.name);
    CHECK(spirv_complaint(kernel.spirv(), folder) == "");
  }
  CHECK(gpu::vulkan::kernels().size() >= 90);
}

TEST_CASE("Vulkan: spirv-val is asked, and refuses half a module") {
  REQUIRE(has_command("spirv-val"));
  const std::vector<std::uint32_t> copy = gpu::vulkan::find_kernel("copy")->spirv();
  const std::span<const std::uint32_t> whole = copy;
  CHECK(spirv_complaint(whole.first(whole.size() / 2), Folder()) != "");
}

}  // namespace
}  // namespace dmlop::test::vulkan_modules_test
