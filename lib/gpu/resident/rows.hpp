// Passes of a plan that a GPU runs as one: rows are reduced and then normalized by what they
// became, so that memory is read once for all of it.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "gpu/device.hpp"
#include "ops/plan.hpp"

namespace dmlop::gpu::resident {

/// So many passes of a plan as one dispatch, over slots in the dispatch's order.
struct FusedRows {
  std::size_t passes;
  std::vector<std::size_t> reads;
  std::size_t write;
  ResidentDispatch dispatch;
};

/// The passes from `first` on, if they are softmax, its logarithm, or a normalization by mean,
/// variance or norm, over rows that the kernel takes, with an activation if one follows. What the
/// first ones write is then not written, and no other pass reads it.
std::optional<FusedRows> fused_rows(const Plan& plan, std::size_t first);

}  // namespace dmlop::gpu::resident
