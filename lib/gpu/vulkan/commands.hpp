// A Vulkan device's commands and buffers.
#pragma once

#include <cstdint>
#include <memory>

#include "gpu/commands.hpp"
#include "gpu/vulkan/context.hpp"

namespace dmlop::gpu::vulkan {

/// The context must live as long as the result. Errors: run_failed, device_lost.
std::unique_ptr<Commands> make_commands(Context& context);
std::unique_ptr<ResidentBuffer> make_buffer(Context& context, Place place, std::uint64_t bytes);

}  // namespace dmlop::gpu::vulkan
