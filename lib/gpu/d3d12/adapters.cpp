#include "gpu/d3d12/adapters.hpp"

#include <array>
#include <cstdio>

#include "gpu/d3d12/api.hpp"
#include "gpu/d3d12/device.hpp"

namespace dmlop::gpu::d3d12 {
namespace {

// Of the software drivers of Mesa, which come without DXGI's flag.
constexpr UINT mesa_vendor = 0x10005;

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

DeviceKind kind_of(const DXGI_ADAPTER_DESC1& desc, ID3D12Device& device) {
  if ((desc.Flags & DXGI_ADAPTER_FLAG_SOFTWARE) != 0 || desc.VendorId == mesa_vendor)
    return DeviceKind::software;
  D3D12_FEATURE_DATA_ARCHITECTURE architecture{};
  if (FAILED(device.CheckFeatureSupport(D3D12_FEATURE_ARCHITECTURE, &architecture,
                                        sizeof architecture)))
    return DeviceKind::other;
  return architecture.UMA ? DeviceKind::integrated : DeviceKind::discrete;
}

// Adds an adapter, unless it cannot run Direct3D 12.
void add(Adapters& adapters, const ComPtr<IDXGIAdapter1>& adapter) {
  ComPtr<ID3D12Device> device;
  DXGI_ADAPTER_DESC1 desc{};
  if (FAILED(adapter->GetDesc1(&desc)) ||
      FAILED(libraries().create_device(adapter.Get(), D3D_FEATURE_LEVEL_11_0,
                                       IID_PPV_ARGS(device.GetAddressOf()))))
    return;
  const DeviceKind kind = kind_of(desc, *device.Get());
  // What an integrated GPU calls dedicated is a small part of the memory that it can use.
  const std::uint64_t memory = kind == DeviceKind::integrated
                                   ? desc.DedicatedVideoMemory + desc.SharedSystemMemory
                                   : desc.DedicatedVideoMemory;
  adapters.list.devices.push_back({.backend = "d3d12",
                                   .index = adapters.list.devices.size(),
                                   .name = to_utf8(desc.Description),
                                   .kind = kind,
                                   .driver = driver_version(*adapter.Get()),
                                   .memory_bytes = memory,
                                   .id_name = "luid",
                                   .id = luid_text(desc.AdapterLuid)});
  adapters.handles.push_back(adapter);
}

Adapters find_adapters() {
  Adapters adapters;
  adapters.list.unavailable = libraries().missing;
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
