// What the sweep on a GPU has left behind. ctest runs these cases behind those of the operators,
// in the same process (CMakeLists.txt); without a sweep there is nothing to look at.
#include <doctest/doctest.h>

#include <cstdlib>
#include <string_view>

#include "gpu_device.hpp"
#include "sweep.hpp"
#ifndef _WIN32
#include "gpu/vulkan/instance.hpp"
#endif

namespace dmlop::test::swept_on_gpu_test {
namespace {

// Only a run for the GPU sweeps there; one that did not is a failure.
bool swept() {
  const char* backends = std::getenv("DMLOP_TEST_BACKENDS");
  if (backends == nullptr || std::string_view(backends) != "gpu") return false;
  REQUIRE(gpu_counts().dispatches > 0);
  return true;
}

TEST_CASE("gpu: the sweep ran every kernel that a plan can need") {
  if (!swept()) return;
  std::string missing;
  for (const std::string& name : kernels_of_dispatches()) {
    if (!gpu_counts().kernels.contains(name)) missing += " " + name;
  }
  CHECK(missing == "");
  MESSAGE(gpu_counts().dispatches << " dispatches, " << gpu_counts().tiled_kernels
                                  << " plans in tiles, " << gpu_counts().refused_kernels
                                  << " that no tile could hold");
}

TEST_CASE("gpu: the sweep ran plans in tiles") {
  if (!swept()) return;
  CHECK(gpu_counts().tiled_kernels > 1000);
}

#ifndef _WIN32
TEST_CASE("gpu: the validation layer had nothing to say") {
  CHECK(gpu::vulkan::validation_messages() == 0);
}
#endif

}  // namespace
}  // namespace dmlop::test::swept_on_gpu_test
