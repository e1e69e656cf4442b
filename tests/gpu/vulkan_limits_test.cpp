// What a device must have for kernels: devices that lack it, and kernels that take no more.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "gpu/vulkan/api.hpp"
#include "gpu/vulkan/kernels.hpp"
#include "gpu/vulkan/spirv.hpp"
#include "gpu_device.hpp"

namespace dmlop::test::vulkan_limits_test {
namespace {

using Properties = VkPhysicalDeviceProperties;

PFN_vkGetPhysicalDeviceProperties2 real_properties = nullptr;
std::function<void(Properties&)> change;

VKAPI_ATTR void VKAPI_CALL changed_properties(VkPhysicalDevice device,
                                              VkPhysicalDeviceProperties2* properties) {
  real_properties(device, properties);
  change(properties->properties);
}

/// Why the device would run no kernels, were it like this.
std::string refusal_with(const std::function<void(Properties&)>& changes) {
  change = [&](Properties& properties) {
    std::strcpy(properties.deviceName, "This GPU");
    changes(properties);
  };
  real_properties = vkGetPhysicalDeviceProperties2;
  vkGetPhysicalDeviceProperties2 = changed_properties;
  const std::unique_ptr<gpu::Device> device = open_gpu();
  vkGetPhysicalDeviceProperties2 = real_properties;
  return device->refusal();
}

TEST_CASE("Vulkan: a device that lacks what kernels need is refused with its value") {
  if (!has_gpu()) return;
  CHECK(refusal_with([](Properties&) {}) == "");
  CHECK(refusal_with([](Properties& device) { device.apiVersion = VK_API_VERSION_1_0; }) ==
        "This GPU has Vulkan 1.0, and kernels need 1.1");
  const auto check = [](std::uint32_t VkPhysicalDeviceLimits::*limit, std::uint32_t value,
                        const std::string& refusal) {
    CHECK(refusal_with([&](Properties& device) { device.limits.*limit = value; }) == refusal);
  };
  using Limits = VkPhysicalDeviceLimits;
  check(&Limits::maxPerStageDescriptorStorageBuffers, 4,
        "This GPU gives a kernel 4 buffers, and kernels need 13");
  check(&Limits::maxComputeWorkGroupInvocations, 128,
        "This GPU runs groups of 128 threads, and kernels need 256");
  check(&Limits::maxComputeWorkGroupInvocations, 256, "");
  check(&Limits::maxComputeSharedMemorySize, 16384,
        "This GPU gives a group of threads 16384 bytes of shared memory, and kernels need 32768");
  check(&Limits::maxComputeSharedMemorySize, 32768, "");
  CHECK(refusal_with([](Properties& device) { device.limits.maxComputeWorkGroupSize[0] = 255; }) ==
        "This GPU runs groups of 255 threads, and kernels need 256");
}

/// What a module's groups take.
struct Needs {
  std::uint64_t threads = 1, shared_bytes = 0;
};

Needs needs_of(std::span<const std::uint32_t> module) {
  enum : std::uint16_t {
    execution_mode = 16,
    type_bool = 20,
    type_int = 21,
    type_float = 22,
    type_vector = 23,
    type_array = 28,
    type_struct = 30,
    type_pointer = 32,
    constant = 43,
    spec_constant = 50,
    variable = 59
  };
  constexpr std::uint32_t local_size = 17, workgroup = 4;
  Needs needs;
  std::map<std::uint32_t, std::uint64_t> bytes, values;  // of types, of constants
  std::map<std::uint32_t, std::uint32_t> pointed_to;
  for (const auto& instruction : gpu::vulkan::spirv::instructions_of(module)) {
    const auto at = [&](std::size_t word) { return instruction[word]; };
    switch (static_cast<std::uint16_t>(instruction.op())) {
      case execution_mode:
        if (at(2) == local_size) needs.threads = std::uint64_t{at(3)} * at(4) * at(5);
        break;
      case type_bool:
        bytes[at(1)] = 4;
        break;
      case type_int:
      case type_float:
        bytes[at(1)] = at(2) / 8;
        break;
      case type_vector:
        bytes[at(1)] = bytes[at(2)] * at(3);
        break;
      case type_array:
        bytes[at(1)] = bytes[at(2)] * values.at(at(3));
        break;
      case type_struct:
        for (std::size_t member = 2; member < instruction.words.size(); ++member)
          bytes[at(1)] += bytes[at(member)];
        break;
      case type_pointer:
        pointed_to[at(1)] = at(3);
        break;
      case constant:
      case spec_constant:
        values[at(2)] = at(3);
        break;
      case variable:
        if (at(3) == workgroup) needs.shared_bytes += bytes.at(pointed_to.at(at(1)));
        break;
      default:
        break;
    }
  }
  return needs;
}

// Those that multiply matrices run on few devices, of which has_matrices() asks more.
TEST_CASE("Vulkan: no kernel needs more threads or shared memory than devices are asked for") {
  std::uint64_t most_bytes = 0, most_threads = 0;
  for (const gpu::vulkan::Kernel& kernel : gpu::vulkan::kernels()) {
    const std::string name(kernel.name);
    CAPTURE(name);
    if (name.find("_matrices_") != std::string::npos && !name.ends_with("_emulated")) continue;
    const Needs needs = needs_of(kernel.spirv());
    CHECK(needs.threads <= gpu::group_threads);
    CHECK(needs.shared_bytes <= gpu::vulkan::shared_bytes);
    most_bytes = std::max(most_bytes, needs.shared_bytes);
    most_threads = std::max(most_threads, needs.threads);
  }
  CHECK(most_bytes == gpu::vulkan::shared_bytes);
  CHECK(most_threads == gpu::group_threads);
}

}  // namespace
}  // namespace dmlop::test::vulkan_limits_test
