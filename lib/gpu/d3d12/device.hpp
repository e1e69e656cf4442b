// A Direct3D 12 device: queue, pipelines, memory; and its streams.
#pragma once

#include <memory>

#include "gpu/d3d12/api.hpp"
#include "gpu/device.hpp"

namespace dmlop::gpu::d3d12 {

std::unique_ptr<Device> make_device(IDXGIAdapter1& adapter, const DeviceInfo& info);

}  // namespace dmlop::gpu::d3d12
