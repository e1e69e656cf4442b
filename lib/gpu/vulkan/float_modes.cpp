#include "gpu/vulkan/float_modes.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "gpu/vulkan/extensions.hpp"

namespace dmlop::gpu::vulkan {
namespace {

// Numbers of the SPIR-V specification and of SPV_KHR_float_controls.
constexpr std::uint32_t op_extension = 10, op_entry_point = 15, op_execution_mode = 16,
                        op_capability = 17, op_type_float = 22;
constexpr std::size_t header_words = 5;

struct Mode {
  std::uint32_t capability;
  std::uint32_t execution_mode;
};
constexpr Mode denorm_preserve{4464, 4459};
constexpr Mode signed_zero_inf_nan_preserve{4466, 4461};

struct Instruction {
  std::size_t begin;  // in words
  std::size_t words;
  std::uint32_t code;
};

template <typename Action>
void for_each_instruction(std::span<const std::uint32_t> module, Action&& action) {
  for (std::size_t at = header_words; at < module.size();) {
    const Instruction one{at, module[at] >> 16, module[at] & 0xFFFF};
    if (one.words == 0) return;  // no module
    action(one);
    at += one.words;
  }
}

/// What is known of a module before it is changed.
struct Layout {
  std::size_t after_capabilities = header_words;
  std::size_t after_entry_point = header_words;
  std::uint32_t entry_point = 0;
  std::uint32_t widths = 0;  // of its floats, added up
};

Layout layout_of(std::span<const std::uint32_t> module) {
  Layout layout;
  for_each_instruction(module, [&](const Instruction& one) {
    const std::size_t end = one.begin + one.words;
    if (one.code == op_capability) layout.after_capabilities = end;
    if (one.code == op_type_float) layout.widths |= module[one.begin + 2];
    if (one.code == op_entry_point) {
      layout.after_entry_point = end;
      layout.entry_point = module[one.begin + 2];
    }
  });
  return layout;
}

void append(std::vector<std::uint32_t>& words, std::uint32_t code,
            std::initializer_list<std::uint32_t> operands) {
  words.push_back(static_cast<std::uint32_t>(operands.size() + 1) << 16 | code);
  words.insert(words.end(), operands);
}

// A literal has its bytes from the lowest of each word on, and ends with 0.
void append_extension(std::vector<std::uint32_t>& words, std::string_view name) {
  const std::size_t count = name.size() / 4 + 1;
  words.push_back(static_cast<std::uint32_t>(count + 1) << 16 | op_extension);
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
  VkPhysicalDeviceProperties2 properties{.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
                                         .pNext = &found};
  vkGetPhysicalDeviceProperties2(physical, &properties);
  FloatModes modes;
  if (found.shaderSignedZeroInfNanPreserveFloat16 == VK_TRUE) modes.special_values |= 16;
  if (found.shaderSignedZeroInfNanPreserveFloat32 == VK_TRUE) modes.special_values |= 32;
  if (found.shaderSignedZeroInfNanPreserveFloat64 == VK_TRUE) modes.special_values |= 64;
  const bool is_independent =
      found.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  if (found.shaderDenormPreserveFloat32 == VK_TRUE && is_independent) modes.denormals |= 32;
  return modes;
}

std::vector<std::uint32_t> with_float_modes(std::span<const std::uint32_t> module,
                                            const FloatModes& modes) {
  const Layout layout = layout_of(module);
  std::vector<std::uint32_t> capabilities;
  std::vector<std::uint32_t> execution_modes;
  const auto add = [&](const Mode& mode, std::uint32_t widths) {
    if (widths == 0) return;
    append(capabilities, op_capability, {mode.capability});
    for (const std::uint32_t width : {16U, 32U, 64U}) {
      if ((widths & width) != 0)
        append(execution_modes, op_execution_mode,
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
