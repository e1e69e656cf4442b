#include "gpu/backends.hpp"

#include <array>

#ifdef _WIN32
#include "gpu/d3d12/adapters.hpp"
#else
#include "gpu/vulkan/instance.hpp"
#endif

namespace dmlop::gpu {
namespace {

struct GpuBackend {
  const char* name;
  const BackendDevices& (*list_devices)();
  std::unique_ptr<Device> (*open_device)(const DeviceInfo& info);
};

#ifdef _WIN32
constexpr std::array backends{GpuBackend{"d3d12", d3d12::list_devices, d3d12::open_device}};
#else
constexpr std::array backends{GpuBackend{"vulkan", vulkan::list_devices, vulkan::open_device}};
#endif

}  // namespace

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const GpuBackend& backend : backends) names.emplace_back(backend.name);
  return names;
}

const DeviceList& list_devices() {
  static const DeviceList made = [] {
    DeviceList list{.backends = backend_names()};
    for (const GpuBackend& backend : backends) {
      const BackendDevices& found = backend.list_devices();
      list.devices.insert(list.devices.end(), found.devices.begin(), found.devices.end());
      if (found.unavailable.empty()) continue;
      list.unavailable += (list.unavailable.empty() ? "" : "; ") + found.unavailable;
    }
    return list;
  }();
  return made;
}

std::unique_ptr<Device> open_device(std::size_t index) {
  const DeviceInfo& info = list_devices().devices.at(index);
  for (const GpuBackend& backend : backends) {
    if (backend.name == info.backend) return backend.open_device(info);
  }
  return nullptr;  // every device is of a backend
}

}  // namespace dmlop::gpu
