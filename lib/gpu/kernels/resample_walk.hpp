// Resampling of images of floats, where an output is made of few elements, by threads that walk
// down (shaders/resample_walk.hlsl).
#pragma once

#include <optional>

#include "gpu/device.hpp"
#include "gpu/kernels/window_axes.hpp"
#include "gpu/kernels/window_search.hpp"

namespace dmlop::gpu::kernels {

/// None where the taps do not suit it.
std::optional<Dispatch> resample_walk(const WindowSearch& search, const WindowAxes& axes);

}  // namespace dmlop::gpu::kernels
