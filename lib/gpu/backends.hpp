// The GPU backends of this build, and all the devices they list.
#pragma once

#include <memory>

#include "gpu/device.hpp"

namespace dmlop::gpu {

/// The devices of every backend, in the order of the backends. Listed once per process, at first
/// need: drivers are loaded for it.
const DeviceList& list_devices();

/// Opens the device at `index` of the list. Errors: run_failed, saying what was being done.
std::unique_ptr<Device> open_device(std::size_t index);

}  // namespace dmlop::gpu
