// The GPU backends of this build, and all the devices they list.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/device.hpp"

namespace dmlop::gpu {

/// The names of the backends of this build: "vulkan", "d3d12". Touches no driver.
std::vector<std::string> backend_names();

/// The devices of every backend, in the order of the backends. Listed once per process, at first
/// need: drivers are loaded for it. A child that is forked afterwards has none: there Mesa waits
/// for threads of the parent, and NVIDIA's driver can hang the whole machine.
const DeviceList& list_devices();

/// Opens the device at `index` of the list. Errors: run_failed, saying what was being done.
std::unique_ptr<Device> open_device(std::size_t index);

}  // namespace dmlop::gpu
