// dmlop devices: what can run operators, and what to type to choose it.
#include <memory>
#include <nlohmann/json.hpp>

#include "base/output.hpp"
#include "base/parallel.hpp"
#include "command.hpp"
#include "exit_codes.hpp"
#include "gpu/backends.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

int print_list_json(const gpu::DeviceList& list) {
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
  print_json(json);
  return exit_done;
}

int print_devices(Format format) {
  const gpu::DeviceList& list = gpu::list_devices();
  if (format == Format::json) return print_list_json(list);
  constexpr std::size_t spec_width = 10;
  print({padded("cpu", spec_width), " CPU, ", hardware_threads(), " threads\n"});
  for (const gpu::DeviceInfo& device : list.devices) {
    print({padded(device.spec(), spec_width), " ", device.name, ", ", to_text(device.kind), ", ",
           device.driver, ", ",
           with_decimals(static_cast<double>(device.memory_bytes) / (1 << 30), 1), " GiB, ",
           device.id_name, " ", device.id, "\n"});
  }
  if (!list.unavailable.empty()) print(StandardStream::error, {"no GPU: ", list.unavailable, "\n"});
  return exit_done;
}

}  // namespace

Action add_devices(CLI::App& command) {
  const auto format = std::make_shared<Format>(Format::text);
  add_format_option(command, *format);
  return [format] { return print_devices(*format); };
}

}  // namespace dmlop::app
