// Which device extensions a driver offers.
#pragma once

#include <span>

#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

/// Whether a device offers all of the extensions.
bool has_extensions(VkPhysicalDevice physical, std::span<const char* const> names);

}  // namespace dmlop::gpu::vulkan
