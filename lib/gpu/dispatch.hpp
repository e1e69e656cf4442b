// From a kernel to what a device is given: dispatches over whole buffers. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/device.hpp"
#include "ops/kernel.hpp"

namespace dmlop::gpu {

/// What a GPU makes of a kernel, whatever its buffers: its dispatches, in order, or why no GPU runs
/// it.
struct Dispatches {
  Dispatches() = default;
  Dispatches(Dispatch only) { dispatches.push_back(std::move(only)); }
  Dispatches(std::vector<Dispatch> all) : dispatches(std::move(all)) {}

  std::string refusal;               // in words that follow "because"; "" where a GPU runs it
  std::vector<Dispatch> dispatches;  // none where it is refused
};

/// Those of a kernel that no GPU runs.
inline Dispatches refused(std::string_view because) {
  Dispatches none;
  none.refusal = because;
  return none;
}

/// Asks the kernel's kind (gpu/kernels/kinds.hpp).
Dispatches make_dispatches(const Kernel& kernel);

/// The copy kernel over `bytes` (a multiple of 16) of its input.
Dispatch copy_dispatch(std::uint64_t bytes);

}  // namespace dmlop::gpu
