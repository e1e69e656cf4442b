// Vulkan's entry points (loaded by volk when the program runs) and the handling of its result
// codes.
#pragma once

#define VK_NO_PROTOTYPES
#include <volk.h>

#include <string>

namespace dmlop::gpu::vulkan {

/// Throws Error with the code by name and what was being done, unless it is a success: device_lost
/// where the device is gone, else run_failed.
void check(VkResult result, const std::string& doing);

}  // namespace dmlop::gpu::vulkan
