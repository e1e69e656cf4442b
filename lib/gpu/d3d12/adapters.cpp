#include "gpu/d3d12/adapters.hpp"

#include <array>
#include <cstdio>
#include <optional>

#include "gpu/d3d12/api.hpp"
#include "gpu/d3d12/debug.hpp"
#include "gpu/d3d12/device.hpp"
#include "gpu/d3d12/software_adapter.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

struct Adapters {
  std::vector<ComPtr<IDXGIAdapter1>> handles;  // as in list.devices
  BackendDevices list;
};

std::string luid_text(const LUID& luid) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%08lx-%08lx", static_cast<unsigned long>(luid.HighPart),
                luid.LowPart);
  return text.data();
}

// "31.0.101.4502"; "" where the driver does not say.
std::string driver_version(IDXGIAdapter1& adapter) {
  LARGE_INTEGER version{};
  if (FAILED(adapter.CheckInterfaceSupport(__uuidof(IDXGIDevice), &version))) return "";
  const auto bits = static_cast<std::uint64_t>(version.QuadPart);
  std::string text = "driver";
  for (int part = 3; part >= 0; --part)
    text += (part == 3 ? " " : ".") + std::to_string(bits >> (16 * part) & 0xFFFF);
  return text;
}

// Nothing where the adapter cannot run Direct3D 12. Opening a device takes long, and only hardware
// needs one here, to tell an integrated GPU from a discrete one.
std::optional<DeviceKind> kind_of(IDXGIAdapter1& adapter, const DXGI_ADAPTER_DESC1& desc) {
  const bool is_software =
      is_software_adapter({.has_software_flag = (desc.Flags & DXGI_ADAPTER_FLAG_SOFTWARE) != 0,
                           .vendor = desc.VendorId,
                           .device = desc.DeviceId});
  ComPtr<ID3D12Device> device;
  void** const wanted = is_software ? nullptr : reinterpret_cast<void**>(device.GetAddressOf());
  if (FAILED(libraries().create_device(&adapter, D3D_FEATURE_LEVEL_11_0, __uuidof(ID3D12Device),
                                       wanted)))
    return std::nullopt;
  if (is_software) return DeviceKind::software;
  D3D12_FEATURE_DATA_ARCHITECTURE architecture{};
  if (FAILED(device->CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE, &architecture,
                                         sizeof architecture)))
    return DeviceKind::other;
  return architecture.UMA ? DeviceKind::integrated : DeviceKind::discrete;
}

// Adds an adapter, unless it cannot run Direct3D 12.
void add(Adapters& adapters, const ComPtr<IDXGIAdapter1>& adapter) {
  DXGI_ADAPTER_DESC1 desc{};
  if (FAILED(adapter->GetDesc1(&desc))) return;
  const std::optional<DeviceKind> kind = kind_of(*adapter.Get(), desc);
  if (!kind) return;
  // What an integrated GPU calls dedicated is a small part of the memory that it can use.
  const std::uint64_t memory = *kind == DeviceKind::integrated
                                   ? desc.DedicatedVideoMemory + desc.SharedSystemMemory
                                   : desc.DedicatedVideoMemory;
  adapters.list.devices.push_back({.backend = "d3d12",
                                   .index = adapters.list.devices.size(),
                                   .name = to_utf8(desc.Description),
                                   .kind = *kind,
                                   .driver = driver_version(*adapter.Get()),
                                   .memory_bytes = memory,
                                   .id_name = "luid",
                                   .id = luid_text(desc.AdapterLuid),
                                   .keeps_special_values = true});  // IEEE strictness (shaders.cpp)
  adapters.handles.push_back(adapter);
}

Adapters find_adapters() {
  Adapters adapters;
  adapters.list.unavailable = libraries().missing;
  if (adapters.list.unavailable.empty()) adapters.list.unavailable = enable_debug_layer();
  if (!adapters.list.unavailable.empty()) return adapters;
  ComPtr<IDXGIFactory1> factory;
  const HRESULT result = libraries().create_factory(
      __uuidof(IDXGIFactory1), reinterpret_cast<void**>(factory.GetAddressOf()));
  if (FAILED(result)) {
    adapters.list.unavailable = "listing the adapters: " + name_of(result);
    return adapters;
  }
  ComPtr<IDXGIAdapter1> adapter;
  for (UINT i = 0; SUCCEEDED(factory->EnumAdapters1(i, adapter.ReleaseAndGetAddressOf())); ++i)
    add(adapters, adapter);
  if (adapters.handles.empty()) adapters.list.unavailable = "no adapter for Direct3D 12 was found";
  return adapters;
}

const Adapters& adapters() {
  static const Adapters found = find_adapters();
  return found;
}

}  // namespace

const BackendDevices& list_devices() {
  return adapters().list;
}

std::unique_ptr<Device> open_device(const DeviceInfo& info) {
  return make_device(*adapters().handles.at(info.index).Get(), info);
}

}  // namespace dmlop::gpu::d3d12
