// What the sweep on Vulkan has left behind. ctest runs these cases behind those of the operators,
// in the same process (CMakeLists.txt); without a sweep there is nothing to look at.
#include "vulkan.hpp"

#include <doctest/doctest.h>

#include "gpu/vulkan/instance.hpp"
#include "sweep.hpp"

namespace dmlop::test {
namespace {

bool swept() {
  return vulkan_counts().dispatches > 0;
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
