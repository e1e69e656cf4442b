// What the streams of all backends have in common: how large their buffers are, and how bytes
// travel between the host and the device.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.hpp"
#include "base/threshold.hpp"
#include "gpu/device.hpp"

namespace dmlop::gpu {

/// A dispatch that takes longer than this has hung.
inline constexpr std::uint64_t timeout_seconds = 120;

/// What a device says of all that comes after such a dispatch.
inline Error hanging(const DeviceInfo& device) {
  return {ErrorKind::device_lost, device.spec() + " hangs: a dispatch did not end within " +
                                      std::to_string(timeout_seconds) + " s"};
}

/// Bytes of the buffer that holds `bytes`: kernels read and write whole vectors of 16.
constexpr std::uint64_t rounded_up(std::uint64_t bytes) {
  return std::max<std::uint64_t>(16, (bytes + 15) / 16 * 16);
}

/// The most bytes at a time between the host and resident buffers.
inline constexpr Threshold staging_bytes{std::uint64_t{64} << 20, 272};

/// Calls action(offset, count) for the parts of `bytes` bytes that staging holds.
template <typename Action>
void in_staging_steps(std::uint64_t bytes, Action&& action) {
  for (std::uint64_t at = 0; at < bytes; at += staging_bytes)
    action(at, std::min<std::uint64_t>(staging_bytes, bytes - at));
}

}  // namespace dmlop::gpu
