// Passes of a plan that normalize rows: softmax, its logarithm, and divisions by deviations or
// norms. A backend that keeps a row near computes them as one and reads memory once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ops/plan.hpp"

namespace dmlop {

/// What becomes of a row. Its number is a constant of shaders/rows.hlsl.
enum class RowOperation : std::uint8_t {
  softmax,
  log_softmax,
  center,
  normalize,
  normalize_about_0,
  by_norm_1,
  by_norm_2,
};

/// One or two reductions of a tensor's rows, and what each element becomes by them. No other pass
/// reads what the reductions write.
struct RowPasses {
  RowOperation operation;
  const ReduceKernel* reduction;  // the first
  const ElementWiseKernel* map;
  std::size_t passes;
};

/// The passes from `first` on, if they are such.
std::optional<RowPasses> row_passes(const Plan& plan, std::size_t first);

}  // namespace dmlop
