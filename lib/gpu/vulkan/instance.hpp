// The Vulkan loader, its instance and the devices it lists. Made once per process, at first need.
#pragma once

#include <memory>

#include "gpu/device.hpp"

namespace dmlop::gpu::vulkan {

/// Loads Vulkan and lists its devices; without a loader the list is empty and says so.
const BackendDevices& list_devices();

/// Opens a device of the list. Errors: run_failed.
std::unique_ptr<Device> open_device(const DeviceInfo& info);

/// How many messages the validation layer has sent (it is on where DMLOP_VULKAN_VALIDATION is set).
unsigned validation_messages();

}  // namespace dmlop::gpu::vulkan
