#include "gpu/backends.hpp"

#include <array>

#include "base/per_process.hpp"

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

DeviceList find_devices() {
  static const unsigned loaded_after = forks();  // by the process that loads the drivers
  DeviceList list{.backends = backend_names()};
  if (forks() != loaded_after) {
    list.unavailable =
        "this process was forked from one that uses GPUs, whose drivers do not survive that: fork "
        "before the first use of a GPU, or start a new process (in Python by the start method "
        "\"spawn\")";
    return list;
  }
  for (const GpuBackend& backend : backends) {
    const BackendDevices& found = backend.list_devices();
    list.devices.insert(list.devices.end(), found.devices.begin(), found.devices.end());
    if (found.unavailable.empty()) continue;
    list.unavailable += (list.unavailable.empty() ? "" : "; ") + found.unavailable;
  }
  return list;
}

}  // namespace

std::vector<std::string> backend_names() {
  std::vector<std::string> names;
  for (const GpuBackend& backend : backends) names.emplace_back(backend.name);
  return names;
}

const DeviceList& list_devices() {
  struct Made {
    DeviceList list = find_devices();
  };
  static constinit KeptPerProcess<Made> of_process;
  return of_process.get().list;
}

std::unique_ptr<Device> open_device(std::size_t index) {
  const DeviceInfo& info = list_devices().devices.at(index);
  for (const GpuBackend& backend : backends) {
    if (backend.name == info.backend) return backend.open_device(info);
  }
  return nullptr;  // every device is of a backend
}

}  // namespace dmlop::gpu
