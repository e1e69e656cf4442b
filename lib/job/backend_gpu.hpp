// The opened GPU inside a Backend: for the job layer's own files.
#pragma once

#include <mutex>

#include "base/per_process.hpp"
#include "gpu/execute.hpp"
#include "job/backend.hpp"

namespace dmlop {

struct Backend::Gpu {
  std::unique_ptr<gpu::Device> device;
  gpu::Executor executor;
  std::mutex turn;
  const unsigned forks_before = forks();

  explicit Gpu(std::unique_ptr<gpu::Device> opened)
      : device(std::move(opened)), executor(*device) {}

  /// No driver works on in a process that was forked: its threads stay with the parent.
  bool is_of_this_process() const { return forks_before == forks(); }
  /// Errors: run_failed.
  void require_this_process() const {
    if (!is_of_this_process())
      throw Error(ErrorKind::run_failed,
                  device->info().spec() +
                      " was opened before this process was forked, and works in the parent alone");
  }
};

}  // namespace dmlop
