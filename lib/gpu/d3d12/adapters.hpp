// The adapters that can run Direct3D 12 at feature level 11_0. Listed once per process, at first
// need.
#pragma once

#include <memory>

#include "gpu/device.hpp"

namespace dmlop::gpu::d3d12 {

/// Loads Direct3D and lists its adapters; without it the list is empty and says so.
const BackendDevices& list_devices();

/// Opens a device of the list. Errors: run_failed.
std::unique_ptr<Device> open_device(const DeviceInfo& info);

}  // namespace dmlop::gpu::d3d12
