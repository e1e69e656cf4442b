#include "gpu/device_info.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/caller.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace dmlop::gpu {
namespace {

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

// Places in the list: of all devices, or of one backend's.
std::vector<std::size_t> places_of(const DeviceList& list, std::string_view backend) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < list.devices.size(); ++i) {
    if (backend.empty() || list.devices[i].backend == backend) places.push_back(i);
  }
  return places;
}

// The best hardware device: by kind, then memory, then order.
std::optional<std::size_t> best_hardware(const DeviceList& list,
                                         const std::vector<std::size_t>& places) {
  const auto better = [](const DeviceInfo& a, const DeviceInfo& b) {
    return rank(a) != rank(b) ? rank(a) > rank(b) : a.memory_bytes > b.memory_bytes;
  };
  std::optional<std::size_t> best;
  for (const std::size_t i : places) {
    if (rank(list.devices[i]) == 0) continue;
    if (!best || better(list.devices[i], list.devices[*best])) best = i;
  }
  return best;
}

std::string list_text(const DeviceList& list, const std::vector<std::size_t>& places) {
  std::vector<std::string> rows;
  for (const std::size_t i : places) {
    const DeviceInfo& device = list.devices[i];
    rows.push_back(device.spec() + " (" + device.name + ", " + std::string(name_of(device.kind)) +
                   ")");
  }
  return join(rows);
}

// Why no device suits, of those at `places`.
std::string reason_for_none(const DeviceList& list, const std::vector<std::size_t>& places) {
  if (!places.empty()) return "only software drivers were found: " + list_text(list, places);
  return list.unavailable.empty() ? "no GPU was found" : list.unavailable;
}

// The devices that a selector such as "0", "uuid=…" or a part of the name fits.
std::vector<std::size_t> matching(std::string_view selector, const DeviceList& list,
                                  const std::vector<std::size_t>& places) {
  std::vector<std::size_t> found;
  std::size_t number = 0;
  const auto [end, error] =
      std::from_chars(selector.data(), selector.data() + selector.size(), number);
  const bool is_number = error == std::errc{} && end == selector.data() + selector.size();
  for (const std::size_t i : places) {
    const DeviceInfo& device = list.devices[i];
    const bool fits = is_number ? device.index == number
                      : selector.starts_with(device.id_name + "=")
                          ? lower(device.id) == lower(selector.substr(device.id_name.size() + 1))
                          : lower(device.name).find(lower(selector)) != std::string::npos;
    if (fits) found.push_back(i);
  }
  return found;
}

[[noreturn]] void refuse_request(const std::string& text, const DeviceList& list) {
  std::string forms = "cpu, gpu";
  for (const std::string& name : list.backends)
    forms += ", " + name + ", " + name + ":NUMBER, " + name + ":PART-OF-NAME";
  throw Error(ErrorKind::usage,
              "\"" + text + "\" is not a device; write one of " + forms + " (see dmlop devices)");
}

}  // namespace

std::string_view name_of(DeviceKind kind) {
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

DeviceChoice choose_device(const DeviceRequest& request, const DeviceList& list) {
  const std::string& text = request.text;
  if (text == "cpu") return {.cpu = true};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string backend = text.substr(0, colon);
  const bool is_backend =
      std::find(list.backends.begin(), list.backends.end(), backend) != list.backends.end();
  if (text.empty() || text == "gpu" || (is_backend && colon == text.size())) {
    const auto places = places_of(list, is_backend ? backend : "");
    if (const auto best = best_hardware(list, places)) return {.index = *best};
    const std::string reason = reason_for_none(list, places);
    if (text.empty()) return {.cpu = true, .notice = "running on the CPU: " + reason};
    throw Error(
        ErrorKind::unavailable,
        "no GPU for \"" + text + "\": " + reason +
            (places.empty() ? ""
                            : "; name one to use it: " +
                                  option_text("--device", list.devices[places.front()].spec())));
  }
  if (!is_backend || colon + 1 >= text.size()) refuse_request(text, list);
  const auto places = places_of(list, backend);
  const auto found = matching(std::string_view(text).substr(colon + 1), list, places);
  if (found.size() == 1) return {.index = found.front()};
  if (found.size() > 1) {
    throw Error(ErrorKind::usage,
                "\"" + text + "\" fits several devices: " + list_text(list, found));
  }
  throw Error(ErrorKind::unavailable,
              "no device fits \"" + text + "\"" +
                  (places.empty() ? ": " + reason_for_none(list, places)
                                  : "; there is: " + list_text(list, places)));
}

}  // namespace dmlop::gpu
