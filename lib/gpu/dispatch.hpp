// From a plan over packed buffers to a kernel launch. Pure.
#pragma once

#include "gpu/device.hpp"
#include "ops/plan.hpp"

namespace dmlop::gpu {

/// Whether the kernels' 32-bit numbers hold the plan's, buffers aside.
bool fits_kernel(const Plan& plan);

/// The kernel variant, constants and passes for a plan that fits and whose buffers fit the kernels'
/// 32-bit arithmetic (TileLimits). Its state takes at most `state_bytes_limit`, which must be 128
/// or more.
Dispatch make_dispatch(const Plan& plan, std::uint64_t state_bytes_limit);

/// The copy kernel over `bytes` (a multiple of 16) of input 2.
Dispatch copy_dispatch(std::uint64_t bytes);

}  // namespace dmlop::gpu
