// Which adapters of Direct3D are software. Pure, so that it can be tested on every system.
#pragma once

#include <cstdint>

namespace dmlop::gpu::d3d12 {

/// What DXGI says about an adapter.
struct AdapterFacts {
  bool has_software_flag = false;
  std::uint32_t vendor = 0;
  std::uint32_t device = 0;
};

/// Whether an adapter computes on the CPU. Some come without DXGI's flag: Microsoft Basic Render
/// Driver, and the drivers of Mesa.
constexpr bool is_software_adapter(const AdapterFacts& adapter) {
  constexpr std::uint32_t microsoft = 0x1414;
  constexpr std::uint32_t basic_render_driver = 0x8C;
  constexpr std::uint32_t mesa = 0x10005;
  return adapter.has_software_flag || adapter.vendor == mesa ||
         (adapter.vendor == microsoft && adapter.device == basic_render_driver);
}

}  // namespace dmlop::gpu::d3d12
