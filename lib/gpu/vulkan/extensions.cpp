#include "gpu/vulkan/extensions.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace dmlop::gpu::vulkan {

bool has_extensions(VkPhysicalDevice physical, std::span<const char* const> names) {
  std::uint32_t count = 0;
  if (vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, nullptr) < 0) return false;
  std::vector<VkExtensionProperties> found(count);
  if (vkEnumerateDeviceExtensionProperties(physical, nullptr, &count, found.data()) < 0)
    return false;
  found.resize(count);
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return std::any_of(found.begin(), found.end(),
                       [&](const auto& extension) { return name == extension.extensionName; });
  });
}

}  // namespace dmlop::gpu::vulkan
