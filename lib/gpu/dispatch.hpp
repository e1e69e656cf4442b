// From a kernel to what a device is given: a dispatch of a tile, or dispatches over whole buffers.
// Pure.
#pragma once

#include "gpu/device.hpp"
#include "ops/kernel.hpp"

namespace dmlop::gpu {

/// Why no GPU runs the kernel, whatever its buffers, in words that follow "because"; "" where one
/// can.
std::string kernel_refusal(const Kernel& kernel);

/// The kernel variant, constants and stages for a tiled kernel that fits and whose buffers fit the
/// kernels' 32-bit arithmetic (TileLimits). Its state takes at most `state_bytes_limit`, which must
/// be 128 or more.
Dispatch make_dispatch(const Kernel& kernel, std::uint64_t state_bytes_limit);

/// The dispatches, in order, of a kernel that is not tiled and that is not refused.
std::vector<ResidentDispatch> make_resident_dispatches(const Kernel& kernel);

/// The copy kernel over `bytes` (a multiple of 16) of input 2.
Dispatch copy_dispatch(std::uint64_t bytes);

}  // namespace dmlop::gpu
