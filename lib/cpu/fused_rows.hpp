// Passes over rows (ops/row_passes.hpp) as one, for rows that lie at a stretch and stay in the
// caches: memory is read once, and a power is computed once. Elements are added in one order on all
// machines: in that of the passes, except where these read rows of less than 32 elements as
// columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "cpu/execute.hpp"
#include "ops/row_passes.hpp"

namespace dmlop::cpu {

struct FusedRows {
  RowPasses passes;
  std::vector<std::size_t> reads;  // slots: the tensor, then a scale and a bias if they are tensors
  std::size_t write;

  std::uint64_t row_length() const { return passes.reduction->extents.back(); }
};

/// The passes from `first` on, if they are such.
std::optional<FusedRows> fused_rows(const Plan& plan, std::size_t first);

/// Computes a part of whole rows.
void run_rows(const RowPasses& passes, Inputs inputs, const Part& part, Stores stores,
              const Destination& to);

}  // namespace dmlop::cpu
