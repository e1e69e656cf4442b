// A Vulkan device: queue, pipelines, memory; and its streams.
#pragma once

#include <memory>

#include "gpu/device.hpp"
#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

std::unique_ptr<Device> make_device(VkPhysicalDevice physical, const DeviceInfo& info);

}  // namespace dmlop::gpu::vulkan
