#include "gpu/vulkan/float_modes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "gpu/vulkan/extensions.hpp"
#include "gpu/vulkan/spirv.hpp"

namespace dmlop::gpu::vulkan {
namespace {

// Numbers of SPV_KHR_float_controls.
struct Mode {
  std::uint32_t capability;
  std::uint32_t execution_mode;
};
constexpr Mode denorm_preserve{4464, 4459};
constexpr Mode signed_zero_inf_nan_preserve{4466, 4461};

/// What is known of a module before it is changed.
struct Layout {
  std::size_t after_capabilities = spirv::header_words;
  std::size_t after_entry_point = spirv::header_words;
  std::uint32_t entry_point = 0;
  std::uint32_t widths = 0;  // of its floats, added up
};

Layout layout_of(std::span<const std::uint32_t> module) {
  Layout layout;
  std::size_t end = spirv::header_words;
  for (const spirv::Instruction& one : spirv::instructions_of(module)) {
    end += one.words.size();
    if (one.op() == spirv::Op::capability) layout.after_capabilities = end;
    if (one.op() == spirv::Op::type_float) layout.widths |= one[2];
    if (one.op() == spirv::Op::entry_point) {
      layout.after_entry_point = end;
      layout.entry_point = one[2];
    }
  }
  return layout;
}

// A literal has its bytes from the lowest of each word on, and ends with 0.
void append_extension(std::vector<std::uint32_t>& words, std::string_view name) {
  const std::size_t count = name.size() / 4 + 1;
  words.push_back(static_cast<std::uint32_t>(count + 1) << 16 |
                  static_cast<std::uint32_t>(spirv::Op::extension));
  for (std::size_t word = 0; word < count; ++word) {
    std::uint32_t letters = 0;
    for (std::size_t i = 0; i < 4 && word * 4 + i < name.size(); ++i)
      letters |= static_cast<std::uint32_t>(name[word * 4 + i]) << (8 * i);
    words.push_back(letters);
  }
}

}  // namespace

FloatModes float_modes_of(VkPhysicalDevice physical) {
  if (!has_extensions(physical, std::array{float_modes_extension})) return {};
  VkPhysicalDeviceFloatControlsProperties found{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FLOAT_CONTROLS_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver{
      .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES, .pNext = &found};
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &driver};
  vkGetPhysicalDeviceProperties2(physical, &properties);
  FloatModes modes;
  if (found.shaderSignedZeroInfNanPreserveFloat16 == VK_TRUE) modes.special_values |= 16;
  if (found.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE) modes.special_values |= 32;
  if (found.shaderSignedZeroInfNanPreserveFloat64 == VK_TRUE) modes.special_values |= 64;
  const bool is_independent =
      found.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  if (found.shaderDenormPreserveFloat32 == VK_TRUE && is_independent) modes.denormals |= 32;
  // Those that all tests of FLOAT16 have run on.
  modes.rounds_halves = driver.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY ||
                        driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE;
  return modes;
}

std::vector<std::uint32_t> with_float_modes(std::span<const std::uint32_t> module,
                                            const FloatModes& modes) {
  const Layout layout = layout_of(module);
  std::vector<std::uint32_t> capabilities;
  std::vector<std::uint32_t> execution_modes;
  const auto add = [&](const Mode& mode, std::uint32_t widths) {
    if (widths == 0) return;
    spirv::append(capabilities, spirv::Op::capability, {mode.capability});
    for (const std::uint32_t width : {16U, 32U, 64U}) {
      if ((widths & width) != 0)
        spirv::append(execution_modes, spirv::Op::execution_mode,
                      {layout.entry_point, mode.execution_mode, width});
    }
  };
  add(signed_zero_inf_nan_preserve, modes.special_values & layout.widths);
  add(denorm_preserve, modes.denormals & layout.widths);

  std::vector<std::uint32_t> changed(module.begin(), module.end());
  if (capabilities.empty()) return changed;
  append_extension(capabilities, "SPV_KHR_float_controls");
  const auto insert = [&](std::size_t at, const std::vector<std::uint32_t>& words) {
    changed.insert(changed.begin() + static_cast<std::ptrdiff_t>(at), words.begin(), words.end());
  };
  insert(layout.after_entry_point, execution_modes);
  insert(layout.after_capabilities, capabilities);
  return changed;
}

}  // namespace dmlop::gpu::vulkan
