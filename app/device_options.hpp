// The options that choose and limit a device, the same for every command that runs operators.
#pragma once

#include <string>

#include "command.hpp"
#include "gpu/device_info.hpp"
#include "job/backend.hpp"

namespace dmlop::app {

struct DeviceOptions {
  bool cpu = false;
  bool gpu = false;
  std::string device;

  /// Declares --cpu, --gpu, --device, --threads, --device-memory and --host-memory.
  void add_to(OptionList& command, ExecutionOptions& execution);
  /// The device that was asked for: by an option, by DMLOP_DEVICE, or otherwise the best one.
  gpu::DeviceRequest request() const;
};

/// Opens the device. Where its choice needs saying, a line says it, unless `quiet`.
/// Errors: as those of Backend.
Backend open_backend(const gpu::DeviceRequest& request, bool quiet);

/// The device of --against, which must be another one than `first`. Errors: usage, unavailable,
/// run_failed.
Backend other_device(const std::string& against, const Backend& first);

/// Declares --strict-indices.
void add_strict_indices_option(OptionList& command, ExecutionOptions& execution);

}  // namespace dmlop::app
