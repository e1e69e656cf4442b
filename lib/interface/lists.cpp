// operators() and devices() of <dmlop/dmlop.hpp>.
#include "gpu/backends.hpp"
#include "interface/translate.hpp"
#include "ops/operator.hpp"

namespace dmlop {

std::vector<OperatorInfo> v0::operators() {
  std::vector<std::string> places = gpu::backend_names();
  places.insert(places.begin(), "cpu");
  std::vector<OperatorInfo> list;
  for (const std::string& name : specified_operators()) {
    list.push_back(
        {name, std::string(family_of(name)), to_text(*operator_introduced(name)), places});
  }
  return list;
}

std::vector<DeviceInfo> v0::devices() {
  return with_failures([] {
    std::vector<DeviceInfo> list{{"cpu", "CPU", "cpu", "", 0}};
    for (const gpu::DeviceInfo& device : gpu::list_devices().devices)
      list.push_back({device.spec(), device.name, std::string(to_text(device.kind)), device.driver,
                      device.memory_bytes});
    return list;
  });
}

}  // namespace dmlop
