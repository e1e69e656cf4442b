// From a plan over packed buffers to a kernel launch. Pure.
#pragma once

#include "gpu/device.hpp"
#include "ops/plan.hpp"

namespace dmlop::gpu {

/// The kernel variant, constants and thread groups for a plan whose buffers fit the kernels' 32-bit
/// arithmetic (TileLimits).
Dispatch make_dispatch(const Plan& plan);

/// The copy kernel over `bytes` (a multiple of 16) of input 2.
Dispatch copy_dispatch(std::uint64_t bytes);

}  // namespace dmlop::gpu
