#include "gpu/device_info.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/error.hpp"
#include "base/text.hpp"

namespace dmlop::gpu {
namespace {

constexpr std::string_view backend_name = "vulkan";

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Higher is better; software never wins by itself.
int rank(const DeviceInfo& device) {
  switch (device.kind) {
    case DeviceKind::discrete:
      return 3;
    case DeviceKind::integrated:
      return 2;
    case DeviceKind::virtual_gpu:
    case DeviceKind::other:
      return 1;
    case DeviceKind::software:
      break;
  }
  return 0;
}

// The best hardware device: by kind, then memory, then order.
std::optional<std::size_t> best_hardware(const std::vector<DeviceInfo>& devices) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (rank(devices[i]) == 0) continue;
    const auto better = [&](const DeviceInfo& a, const DeviceInfo& b) {
      return rank(a) != rank(b) ? rank(a) > rank(b) : a.memory_bytes > b.memory_bytes;
    };
    if (!best || better(devices[i], devices[*best])) best = i;
  }
  return best;
}

std::string list_text(const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> rows;
  for (const DeviceInfo& device : devices) {
    rows.push_back(device.spec() + " (" + device.name + ", " + std::string(to_text(device.kind)) +
                   ")");
  }
  return rows.empty() ? "none" : join(rows);
}

// Why no hardware device was found.
std::string reason_for_none(const std::vector<DeviceInfo>& devices,
                            const std::string& unavailable) {
  if (!devices.empty()) return "only software drivers were found: " + list_text(devices);
  return unavailable.empty() ? "no Vulkan device was found" : unavailable;
}

std::vector<std::size_t> matching(std::string_view selector,
                                  const std::vector<DeviceInfo>& devices) {
  std::vector<std::size_t> found;
  std::size_t number = 0;
  const auto [end, error] =
      std::from_chars(selector.data(), selector.data() + selector.size(), number);
  const bool is_number = error == std::errc{} && end == selector.data() + selector.size();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const bool fits = is_number ? devices[i].index == number
                      : selector.starts_with("uuid=")
                          ? lower(devices[i].uuid) == lower(selector.substr(5))
                          : lower(devices[i].name).find(lower(selector)) != std::string::npos;
    if (fits) found.push_back(i);
  }
  return found;
}

}  // namespace

std::string_view to_text(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::discrete:
      return "discrete";
    case DeviceKind::integrated:
      return "integrated";
    case DeviceKind::virtual_gpu:
      return "virtual";
    case DeviceKind::software:
      return "software";
    case DeviceKind::other:
      break;
  }
  return "other";
}

std::string DeviceInfo::spec() const {
  return backend + ":" + std::to_string(index);
}

DeviceChoice choose_device(const DeviceRequest& request, const std::vector<DeviceInfo>& devices,
                           const std::string& unavailable) {
  const std::string& text = request.text;
  if (text == "cpu") return {.cpu = true};
  if (text.empty() || text == "gpu" || text == backend_name) {
    if (const auto best = best_hardware(devices)) return {.index = *best};
    const std::string reason = reason_for_none(devices, unavailable);
    if (text.empty()) return {.cpu = true, .notice = "running on the CPU: " + reason};
    throw Error(ErrorKind::unavailable, "no GPU for \"" + text + "\": " + reason +
                                            (devices.empty() ? "" : "; name one to use it"));
  }
  const std::string prefix = std::string(backend_name) + ":";
  if (!text.starts_with(prefix) || text.size() == prefix.size()) {
    throw Error(ErrorKind::usage,
                "\"" + text +
                    "\" is no device; write cpu, gpu, vulkan, vulkan:NUMBER, "
                    "vulkan:PART-OF-NAME or vulkan:uuid=UUID (see dmlop devices)");
  }
  const auto found = matching(std::string_view(text).substr(prefix.size()), devices);
  if (found.size() == 1) return {.index = found.front()};
  if (found.empty()) {
    throw Error(ErrorKind::unavailable,
                "no device fits \"" + text + "\"; there is: " +
                    (devices.empty() ? reason_for_none(devices, unavailable) : list_text(devices)));
  }
  std::vector<DeviceInfo> several;
  for (const std::size_t i : found) several.push_back(devices[i]);
  throw Error(ErrorKind::usage, "\"" + text + "\" fits several devices: " + list_text(several));
}

}  // namespace dmlop::gpu
