// What is known of a device before it is opened, and the choice among several. Pure: tested with
// invented devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dmlop::gpu {

enum class DeviceKind { discrete, integrated, virtual_gpu, software, other };

std::string_view to_text(DeviceKind kind);

struct DeviceInfo {
  std::string backend;    // "vulkan"
  std::size_t index = 0;  // within the backend
  std::string name;
  DeviceKind kind = DeviceKind::other;
  std::string driver;
  std::uint64_t memory_bytes = 0;  // device-local
  std::string uuid;

  /// What a user types to get exactly this device: "vulkan:0".
  std::string spec() const;
};

/// Seconds a device spent on a dispatch or on several; nothing where it cannot tell.
struct DispatchTimes {
  std::optional<double> upload;
  std::optional<double> kernel;
  std::optional<double> download;
};

/// A device as asked for: "cpu"; "gpu" (the best hardware GPU, else an error); "vulkan" (the same
/// of that backend); "vulkan:1", "vulkan:NAME-PART", "vulkan:uuid=…"; "" (a hardware GPU, else the
/// CPU).
struct DeviceRequest {
  std::string text;
};

struct DeviceChoice {
  bool cpu = false;
  std::size_t index = 0;  // into the list of devices
  std::string notice;     // one line for the user: why it is the CPU although none was asked for
};

/// Picks a device. Software drivers are taken only when named. `unavailable` says why there is no
/// device at all, for messages.
/// Errors: usage for a request that cannot be read or fits several devices (with the list);
/// unavailable for one that fits none.
DeviceChoice choose_device(const DeviceRequest& request, const std::vector<DeviceInfo>& devices,
                           const std::string& unavailable);

}  // namespace dmlop::gpu
