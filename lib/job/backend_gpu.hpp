// The opened GPU inside a Backend: for the job layer's own files.
#pragma once

#include <mutex>

#include "gpu/execute.hpp"
#include "job/backend.hpp"

namespace dmlop {

struct Backend::Gpu {
  std::unique_ptr<gpu::Device> device;
  gpu::Executor executor;
  std::mutex turn;

  explicit Gpu(std::unique_ptr<gpu::Device> opened)
      : device(std::move(opened)), executor(*device) {}
};

}  // namespace dmlop
