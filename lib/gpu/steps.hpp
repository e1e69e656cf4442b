// What a device is given of a plan whose tensors it holds: passes, one by one or several as one.
// Pure.
#pragma once

#include <cstddef>
#include <vector>

#include "gpu/device.hpp"
#include "ops/plan.hpp"

namespace dmlop::gpu {

/// A tiled kernel, or dispatches in order, over slots of the plan.
struct Step {
  const Kernel* tiled = nullptr;  // of the plan
  std::vector<ResidentDispatch> dispatches = {};
  std::vector<std::size_t> reads = {};
  std::vector<std::size_t> writes = {};
};

/// The steps of a plan, none of whose kernels is refused. Temporaries that no step names are not
/// needed.
std::vector<Step> steps_of(const Plan& plan);

}  // namespace dmlop::gpu
