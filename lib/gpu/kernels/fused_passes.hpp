// Passes of a plan that a GPU runs as one, so that memory is read once for all of them.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "gpu/device.hpp"
#include "ops/plan.hpp"

namespace dmlop::gpu::kernels {

/// So many passes of a plan as one dispatch, over slots in the dispatch's order. What all but the
/// last one write is then not written, and no other pass reads it.
struct FusedPasses {
  std::size_t passes;
  std::vector<std::size_t> reads;
  std::size_t write;
  Dispatch dispatch;
};

/// The passes from `first` on, if they are softmax, its logarithm, or a normalization by mean,
/// variance or norm, over rows that the kernel takes, with an activation if one follows.
std::optional<FusedPasses> fused_rows(const Plan& plan, std::size_t first);

/// The same, if they divide by sums of squares over windows along one axis.
std::optional<FusedPasses> fused_local_response(const Plan& plan, std::size_t first);

}  // namespace dmlop::gpu::kernels
