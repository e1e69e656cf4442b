// Norms of windows on GPUs: shaders/window_norm.hlsl, window_norm_parts.hlsl and norm_walk.hlsl.
#pragma once

#include "gpu/dispatch.hpp"
#include "ops/kernels/window.hpp"

namespace dmlop::gpu::kernels {

/// What a GPU makes of a kernel whose function is the norm.
Dispatches norm_dispatches(const WindowKernel& kernel);

}  // namespace dmlop::gpu::kernels
