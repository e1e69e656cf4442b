#define VOLK_IMPLEMENTATION
#include "gpu/vulkan/api.hpp"

#include "base/error.hpp"

namespace dmlop::gpu::vulkan {
namespace {

std::string name_of(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "out of host memory";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "out of device memory";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "initialization failed";
    case VK_ERROR_DEVICE_LOST:
      return "the device was lost";
    case VK_ERROR_MEMORY_MAP_FAILED:
      return "memory could not be mapped";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "incompatible driver";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "too many objects";
    case VK_TIMEOUT:
      return "timeout";
    default:
      return "Vulkan error " + std::to_string(result);
  }
}

}  // namespace

void check(VkResult result, const std::string& doing) {
  if (result == VK_SUCCESS) return;
  const bool lost = result == VK_ERROR_DEVICE_LOST;
  throw Error(lost ? ErrorKind::device_lost : ErrorKind::run_failed,
              doing + ": " + name_of(result));
}

}  // namespace dmlop::gpu::vulkan
