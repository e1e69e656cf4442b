// MAX_POOLING and AVERAGE_POOLING of small windows in images, by threads that walk down
// (shaders/pooling_walk.hlsl).
#pragma once

#include <optional>

#include "gpu/device.hpp"
#include "gpu/kernels/window_axes.hpp"
#include "gpu/kernels/window_search.hpp"

namespace dmlop::gpu::kernels {

/// None where the windows do not suit it.
std::optional<Dispatch> pooling_walk(const WindowSearch& search, const WindowAxes& axes);

}  // namespace dmlop::gpu::kernels
