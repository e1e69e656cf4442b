// The Vulkan loader, its instance and the devices it lists. Made once per process, at first need.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/device.hpp"

namespace dmlop::gpu::vulkan {

struct DeviceList {
  std::vector<DeviceInfo> devices;
  std::string unavailable;  // why there is none: no loader, no driver
};

/// Loads Vulkan and lists its devices; without a loader the list is empty and says so.
const DeviceList& list_devices();

/// Opens the device at `index` of the list. Errors: run_failed.
std::unique_ptr<Device> open_device(std::size_t index);

/// How many messages the validation layer has sent (it is on where DMLOP_VULKAN_VALIDATION is set).
unsigned validation_messages();

}  // namespace dmlop::gpu::vulkan
