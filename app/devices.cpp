// dmlop devices: what can run operators, and what to type to choose it.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/exit_codes.hpp"
#include "base/output.hpp"
#include "base/parallel.hpp"
#include "command.hpp"
#include "gpu/backends.hpp"
#include "gpu/missing_gpu.hpp"

namespace dmlop::app {
namespace {

using Json = nlohmann::ordered_json;

// Hardware that Vulkan does not list; a driver in software is no reason to be silent about it.
std::vector<std::string> missing_hardware([[maybe_unused]] const gpu::DeviceList& list) {
#ifdef _WIN32
  return {};
#else
  const auto is_hardware = [](const gpu::DeviceInfo& device) {
    return device.kind != gpu::DeviceKind::software;
  };
  if (std::any_of(list.devices.begin(), list.devices.end(), is_hardware)) return {};
  return gpu::why_no_gpu("/");
#endif
}

int print_list_json(const gpu::DeviceList& list) {
  Json devices = Json::array({{{"spec", "cpu"}, {"threads", hardware_threads()}}});
  for (const gpu::DeviceInfo& device : list.devices) {
    devices.push_back({{"spec", device.spec()},
                       {"name", device.name},
                       {"kind", name_of(device.kind)},
                       {"driver", device.driver},
                       {"memoryBytes", device.memory_bytes},
                       {"keepsNan", device.keeps_special_values},
                       {"keepsDenormals", device.keeps_denormals},
                       {device.id_name, device.id}});
  }
  Json json{{"devices", devices}};
  if (!list.unavailable.empty()) json["unavailable"] = list.unavailable;
  if (const auto reasons = missing_hardware(list); !reasons.empty()) json["noHardware"] = reasons;
  print_json(json);
  return exit_done;
}

// What its driver does not promise of FLOAT32; "" where it keeps everything.
std::string losses_of(const gpu::DeviceInfo& device) {
  std::string losses;
  if (!device.keeps_special_values) losses += ", may lose NaN";
  if (!device.keeps_denormals) losses += ", may take denormals for 0";
  return losses;
}

int print_devices(Format format) {
  const gpu::DeviceList& list = gpu::list_devices();
  if (format == Format::json) return print_list_json(list);
  constexpr std::size_t spec_width = 10;
  print({padded("cpu", spec_width), " CPU, ", hardware_threads(), " threads\n"});
  for (const gpu::DeviceInfo& device : list.devices) {
    print({padded(device.spec(), spec_width), " ", device.name, ", ", name_of(device.kind), ", ",
           device.driver, ", ",
           with_decimals(static_cast<double>(device.memory_bytes) / (1 << 30), 1), " GiB, ",
           device.id_name, " ", device.id, losses_of(device), "\n"});
  }
  if (!list.unavailable.empty()) print(StandardStream::error, {"no GPU: ", list.unavailable, "\n"});
  for (const std::string& reason : missing_hardware(list))
    print(StandardStream::error, {"no hardware GPU: ", reason, "\n"});
  return exit_done;
}

}  // namespace

Action add_devices(OptionList& command) {
  const auto format = std::make_shared<Format>(Format::text);
  add_format_option(command, *format);
  return [format] { return print_devices(*format); };
}

}  // namespace dmlop::app
