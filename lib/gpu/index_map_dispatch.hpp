// From data movement to what a device is given: shaders/index_map.hlsl and shaders/reverse_columns.hlsl.
// Pure.
#pragma once

#include "gpu/device.hpp"
#include "ops/kernels/index_map.hpp"

namespace dmlop::gpu {

/// As make_dispatch (dispatch.hpp).
Dispatch index_map_dispatch(const IndexMapKernel& kernel);

}  // namespace dmlop::gpu
