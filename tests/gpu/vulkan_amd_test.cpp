// AMD's compiler takes the kernels of every stored case. Mesa has it without the hardware
// (RADV_FORCE_FAMILY), so they are compiled and run nowhere.
#include <doctest/doctest.h>

#include <filesystem>
#include <set>
#include <string>

#include "gpu/steps.hpp"
#include "gpu_device.hpp"
#include "job/job.hpp"
#include "ops/operator.hpp"
#include "paths.hpp"
#include "stored_jobs.hpp"

namespace dmlop::test::vulkan_amd_test {
namespace {

namespace fs = std::filesystem;

TEST_CASE("Vulkan: AMD's compiler takes the kernels of every stored case") {
  if (!has_gpu()) return;
  const auto device = open_gpu();
  if (device->info().name.find("RADV") == std::string::npos) {
    MESSAGE(
        "SKIPPED on gpu: needs Mesa's driver for AMD in VK_DRIVER_FILES, and "
        "RADV_FORCE_FAMILY=navi21");
    return;
  }
  REQUIRE(device->refusal() == "");
  std::set<std::string> operators;
  for (const auto& folder : fs::directory_iterator(conformance_path("golden/open"))) {
    for (const auto& one : fs::directory_iterator(folder)) {
      CAPTURE(one.path().string());
      Diagnostics diagnostics;
      const auto job = stored_job(one.path(), diagnostics);
      if (!job) continue;
      const Plan plan = make_plan(job->description);
      CHECK(ending_of([&] { gpu::prepare(*device, plan); }).message == "");
      operators.insert(folder.path().filename().string());
    }
  }
  CHECK(operators.size() >= 177);
}

}  // namespace
}  // namespace dmlop::test::vulkan_amd_test
