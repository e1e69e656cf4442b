// dmlop devices: what can run operators, and what to type to choose it.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/parallel.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "gpu/backends.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

int print_json(const gpu::DeviceList& list) {
  Json devices = Json::array({{{"spec", "cpu"}, {"threads", hardware_threads()}}});
  for (const gpu::DeviceInfo& device : list.devices) {
    devices.push_back({{"spec", device.spec()},
                       {"name", device.name},
                       {"kind", to_text(device.kind)},
                       {"driver", device.driver},
                       {"memoryBytes", device.memory_bytes},
                       {device.id_name, device.id}});
  }
  Json json{{"devices", devices}};
  if (!list.unavailable.empty()) json["unavailable"] = list.unavailable;
  std::printf("%s\n", json.dump(2).c_str());
  return exit_done;
}

int print_devices(Format format) {
  const gpu::DeviceList& list = gpu::list_devices();
  if (format == Format::json) return print_json(list);
  std::printf("%-10s CPU, %u threads\n", "cpu", hardware_threads());
  for (const gpu::DeviceInfo& device : list.devices) {
    std::printf("%-10s %s, %s, %s, %.1f GiB, %s %s\n", device.spec().c_str(), device.name.c_str(),
                std::string(to_text(device.kind)).c_str(), device.driver.c_str(),
                static_cast<double>(device.memory_bytes) / (1 << 30), device.id_name.c_str(),
                device.id.c_str());
  }
  if (!list.unavailable.empty()) std::fprintf(stderr, "no GPU: %s\n", list.unavailable.c_str());
  return exit_done;
}

}  // namespace

Action add_devices(CLI::App& command) {
  const auto format = std::make_shared<Format>(Format::text);
  add_format_option(command, *format);
  return [format] { return print_devices(*format); };
}

}  // namespace dmlop::app
