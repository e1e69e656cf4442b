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

std::string_view name_of(DeviceKind kind);

struct DeviceInfo {
  std::string backend;    // "vulkan", "d3d12"
  std::size_t index = 0;  // within the backend
  std::string name;
  DeviceKind kind = DeviceKind::other;
  std::string driver;
  std::uint64_t memory_bytes = 0;  // device-local
  /// What stays the same when devices come and go, and what it is called: "uuid" of Vulkan, "luid"
  /// of Direct3D, which holds until the next start of the system.
  std::string id_name;
  std::string id;
  bool has_matrices = false;  // multiplies small matrices of FLOAT16 on units of their own
  /// What its driver promises for FLOAT32: that NaN, infinity and -0 count, and denormals.
  bool keeps_special_values = false;
  bool keeps_denormals = false;

  /// What a user types to get exactly this device: "vulkan:0".
  std::string spec() const;
};

/// What one backend found on this machine.
struct BackendDevices {
  std::vector<DeviceInfo> devices;
  std::string unavailable;  // why there is none: no loader, no driver
};

/// What all backends of a build found.
struct DeviceList {
  std::vector<std::string> backends;  // their names, at least one
  std::vector<DeviceInfo> devices;
  std::string unavailable;  // why backends found none
};

/// Seconds a device spent on a dispatch or on several; nothing where it cannot tell.
struct DispatchTimes {
  std::optional<double> upload;
  std::optional<double> kernel;
  std::optional<double> download;
};

/// A device as asked for: "cpu"; "gpu" (the best hardware GPU, else an error); "vulkan" (the same
/// of that backend); "vulkan:1", "vulkan:NAME-PART", "vulkan:uuid=…", "d3d12:luid=…"; "" (a
/// hardware GPU, else the CPU).
struct DeviceRequest {
  std::string text;
  std::string origin = {};  // where it stands, if that is no option: "DMLOP_DEVICE"
};

struct DeviceChoice {
  bool cpu = false;
  std::size_t index = 0;  // into the list of devices
  std::string notice;     // one line for the user: why it is the CPU although none was asked for
};

/// Picks a device. Software drivers are taken only when named.
/// Errors: usage for a request that cannot be read or fits several devices (with the list);
/// unavailable for one that fits none.
DeviceChoice choose_device(const DeviceRequest& request, const DeviceList& list);

}  // namespace dmlop::gpu
