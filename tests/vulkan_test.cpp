// What the sweep on Vulkan has left behind. ctest runs these cases behind those of the operators,
// in the same process (CMakeLists.txt); without a sweep there is nothing to look at.
#include "vulkan.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string_view>

#include "gpu/vulkan/instance.hpp"
#include "sweep.hpp"

namespace dmlop::test {
namespace {

// Only a run for Vulkan sweeps there; one that did not is a failure.
bool swept() {
  const char* backends = std::getenv("DMLOP_TEST_BACKENDS");
  if (backends == nullptr || std::string_view(backends) != "vulkan") return false;
  REQUIRE(vulkan_counts().dispatches > 0);
  return true;
}

TEST_CASE("vulkan: the sweep ran every kernel that a plan can need") {
  if (!swept()) return;
  std::string missing;
  for (const std::string& name : kernels_of_plans()) {
    if (!vulkan_counts().kernels.contains(name)) missing += " " + name;
  }
  CHECK(missing == "");
  MESSAGE(vulkan_counts().dispatches << " dispatches, " << vulkan_counts().tiled_plans
                                     << " plans in tiles, " << vulkan_counts().refused_plans
                                     << " that no tile could hold");
}

TEST_CASE("vulkan: the sweep ran plans in tiles") {
  if (!swept()) return;
  CHECK(vulkan_counts().tiled_plans > 1000);
}

TEST_CASE("vulkan: the validation layer had nothing to say") {
  CHECK(gpu::vulkan::validation_messages() == 0);
}

}  // namespace
}  // namespace dmlop::test
