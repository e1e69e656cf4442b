// Specialization before a driver sees a module. Drivers and the validation layer read a whole
// module before its constants prune it, and a kernel for all types is up to twenty times what one
// type needs (shaders/README.md has the gain).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dmlop::gpu::vulkan {

/// Gives a module's specialization constants their values, computes what follows from them and
/// leaves out the blocks that they make unreachable. Constants without a value keep their defaults.
/// `constants`: what a dispatch chooses, by id from 0 on.
/// `of_device`: what is the same for all modules of a device, by id from 64 on.
std::vector<std::uint32_t> specialized(std::span<const std::uint32_t> module,
                                       std::span<const std::uint32_t> constants,
                                       std::span<const std::uint32_t> of_device = {});

}  // namespace dmlop::gpu::vulkan
