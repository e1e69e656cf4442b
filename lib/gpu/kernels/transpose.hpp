// Data movement that turns the order of axes around: shaders/transpose.hlsl and
// shaders/interleave.hlsl. Pure.
#pragma once

#include <optional>

#include "gpu/device.hpp"
#include "ops/kernels/index_map.hpp"

namespace dmlop::gpu::kernels {

/// The dispatch of a kernel in which elements that stand side by side in the source do not do so in
/// the output; nothing where another kernel suits it better.
std::optional<Dispatch> transpose_dispatch(const IndexMapKernel& kernel);

}  // namespace dmlop::gpu::kernels
