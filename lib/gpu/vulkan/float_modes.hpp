// What a device does with NaN, infinity, -0 and denormals. Without a word in a module
// (SPV_KHR_float_controls), a driver may assume that there are none: NVIDIA's then takes a test for
// NaN for false. glslang cannot write that word from HLSL, so modules get it when they are loaded.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/vulkan/api.hpp"

namespace dmlop::gpu::vulkan {

/// The widths of floats for which a device keeps something, added up: 16, 32 and 64 bits.
struct FloatModes {
  std::uint32_t special_values = 0;  // SignedZeroInfNanPreserve
  std::uint32_t denormals = 0;       // DenormPreserve
  /// Whether the driver is known to round to the nearest FLOAT16, ties to even, when it packs two.
  /// The Vulkan specification leaves the direction to drivers, and AMD's round toward zero.
  bool rounds_halves = false;

  static constexpr std::uint32_t all_widths = 16 | 32 | 64;
  bool any() const { return (special_values | denormals) != 0; }
};

/// What a device can be asked to keep: special values of each width, denormals of 32 bits. And how
/// it rounds.
FloatModes float_modes_of(VkPhysicalDevice physical);

/// The device extension that modules with modes need.
inline constexpr const char* float_modes_extension = VK_KHR_SHADER_FLOAT_CONTROLS_EXTENSION_NAME;

/// A module whose one entry point asks for the modes, for each width of floats that it computes
/// with.
std::vector<std::uint32_t> with_float_modes(std::span<const std::uint32_t> module,
                                            const FloatModes& modes);

}  // namespace dmlop::gpu::vulkan
