// From a kernel to what a device is given: dispatches over whole buffers. Pure.
#pragma once

#include "gpu/device.hpp"
#include "ops/kernel.hpp"

namespace dmlop::gpu {

/// Why no GPU runs the kernel, whatever its buffers, in words that follow "because"; "" where one
/// can.
std::string kernel_refusal(const Kernel& kernel);

/// The dispatches, in order, of a kernel that is not refused.
std::vector<Dispatch> make_dispatches(const Kernel& kernel);

/// The copy kernel over `bytes` (a multiple of 16) of its input.
Dispatch copy_dispatch(std::uint64_t bytes);

}  // namespace dmlop::gpu
