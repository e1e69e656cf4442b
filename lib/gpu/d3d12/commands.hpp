// A Direct3D 12 device's commands and buffers.
#pragma once

#include <cstdint>
#include <memory>

#include "gpu/commands.hpp"
#include "gpu/d3d12/context.hpp"

namespace dmlop::gpu::d3d12 {

/// The context must live as long as the result. Errors: run_failed, device_lost.
std::unique_ptr<Commands> make_commands(Context& context);
std::unique_ptr<ResidentBuffer> make_buffer(Context& context, Place place, std::uint64_t bytes);

}  // namespace dmlop::gpu::d3d12
