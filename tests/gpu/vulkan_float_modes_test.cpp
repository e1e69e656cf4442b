// Modules ask a device to keep NaN, infinity, -0 and denormals where it can. Without that, drivers
// of hardware may assume that there are none; llvmpipe never does, so the results of a software GPU
// do not show it.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "folder.hpp"
#include "gpu/vulkan/float_modes.hpp"
#include "gpu/vulkan/kernels.hpp"
#include "gpu/vulkan/specialize.hpp"
#include "gpu_device.hpp"
#include "program.hpp"
#include "spirv_tools.hpp"

namespace dmlop::test::vulkan_float_modes_test {
namespace {

using gpu::vulkan::FloatModes;
using Module = std::span<const std::uint32_t>;

constexpr FloatModes everything{FloatModes::all_widths, 32};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Whether a module has an instruction with these words, but for its second one, the entry point.
bool has_execution_mode(Module module, std::uint32_t mode, std::uint32_t width) {
  const std::array<std::uint32_t, 2> operands{mode, width};
  return std::search(module.begin(), module.end(), operands.begin(), operands.end()) !=
         module.end();
}

TEST_CASE("float modes: every module asks for them, for each width of its floats") {
  REQUIRE(has_command("spirv-val"));
  REQUIRE(has_command("spirv-dis"));
  const Folder folder;
  std::size_t with_32 = 0, with_16 = 0, without = 0;
  for (const gpu::vulkan::Kernel& kernel : gpu::vulkan::kernels()) {
    CAPTURE(kernel.name);
    const std::string text =
        spirv_text(gpu::vulkan::with_float_modes(kernel.spirv(), everything), folder);
    for (const char* width : {"16", "32", "64"}) {
      CAPTURE(width);
      const bool computes = contains(text, std::string("OpTypeFloat ") + width + "\n");
      const std::string nan =
          std::string("OpExecutionMode %main SignedZeroInfNanPreserve ") + width;
      CHECK(contains(text, nan + "\n") == computes);
      if (std::string(width) == "32") {
        CHECK(contains(text, "OpExecutionMode %main DenormPreserve 32\n") == computes);
        with_32 += computes ? 1 : 0;
        without += computes ? 0 : 1;
      }
      if (std::string(width) == "16") with_16 += computes ? 1 : 0;
    }
  }
  CHECK(with_32 >= 69);
  CHECK(with_16 >= 2);  // products and attention with cooperative matrices
  CHECK(without >= 1);  // copies
}

// The Vulkan specification leaves the direction of rounding to drivers, and AMD's round toward
// zero.
TEST_CASE("float modes: drivers pack halves only where they are known to round to the nearest") {
  REQUIRE(has_command("spirv-dis"));
  const Folder folder;
  const std::vector<std::uint32_t> of_halves(24, static_cast<std::uint32_t>(DataType::Float16));
  std::size_t packing = 0;
  for (const gpu::vulkan::Kernel& kernel : gpu::vulkan::kernels()) {
    CAPTURE(kernel.name);
    const auto packs = [&](std::uint32_t rounds_halves) {
      const std::array of_device{rounds_halves};
      const std::vector<std::uint32_t> module =
          gpu::vulkan::specialized(kernel.spirv(), of_halves, of_device);
      return contains(spirv_text(module, folder), " PackHalf2x16 ");
    };
    if (packs(1)) ++packing;
    // Only NVIDIA's driver has the extension that the kernels with matrices need.
    if (kernel.name.find("_matrices") == std::string_view::npos) CHECK_FALSE(packs(0));
  }
  CHECK(packing >= 20);
}

TEST_CASE("float modes: a device that offers none gets modules as they are") {
  const std::vector<std::uint32_t> module = gpu::vulkan::find_kernel("cast")->spirv();
  const std::vector<std::uint32_t> same = gpu::vulkan::with_float_modes(module, {});
  CHECK(std::equal(same.begin(), same.end(), module.begin(), module.end()));
}

TEST_CASE("float modes: one mode alone, and one width alone") {
  const std::vector<std::uint32_t> module = gpu::vulkan::find_kernel("cast")->spirv();
  const auto nan_only = gpu::vulkan::with_float_modes(module, {32, 0});
  CHECK(has_execution_mode(nan_only, 4461, 32));
  CHECK_FALSE(has_execution_mode(nan_only, 4459, 32));
  const auto denormals_only = gpu::vulkan::with_float_modes(module, {16, 32});
  CHECK_FALSE(has_execution_mode(denormals_only, 4461, 16));  // it has no floats of 16 bits
  CHECK(has_execution_mode(denormals_only, 4459, 32));
}

/// The modules that a driver is given.
std::vector<std::vector<std::uint32_t>>* given = nullptr;
PFN_vkCreateShaderModule real_create_shader_module = nullptr;

VKAPI_ATTR VkResult VKAPI_CALL watch(VkDevice device, const VkShaderModuleCreateInfo* info,
                                     const VkAllocationCallbacks* callbacks,
                                     VkShaderModule* module) {
  given->emplace_back(info->pCode, info->pCode + info->codeSize / 4);
  return real_create_shader_module(device, info, callbacks, module);
}

TEST_CASE("float modes: what a device offers is in each module that it is given") {
  if (!has_gpu()) return;
  const std::unique_ptr<gpu::Device> device = open_gpu();
  std::vector<std::vector<std::uint32_t>> modules;
  given = &modules;
  real_create_shader_module = vkCreateShaderModule;
  vkCreateShaderModule = watch;
  device->prepare({.kernel = "cast", .specialization = {1, 2}});
  device->prepare({.kernel = "scan", .specialization = {1}});
  vkCreateShaderModule = real_create_shader_module;
  REQUIRE(modules.size() == 2);
  for (const auto& module : modules) {
    CHECK(has_execution_mode(module, 4461, 32) == device->info().keeps_special_values);
    CHECK(has_execution_mode(module, 4459, 32) == device->info().keeps_denormals);
  }
  if (device->info().name.find("llvmpipe") != std::string::npos)
    CHECK(device->info().keeps_special_values);
}

}  // namespace
}  // namespace dmlop::test::vulkan_float_modes_test
