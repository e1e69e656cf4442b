// What the CPU computes at a time of a plan: a pass, or several that are computed as one.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "cpu/execute.hpp"
#include "cpu/fused_rows.hpp"

namespace dmlop::cpu {

class PlanStep {
 public:
  /// From pass `first` on. The plan must outlive it.
  PlanStep(const Plan& plan, std::size_t first);

  /// How many passes it takes.
  std::size_t passes() const { return rows_ ? rows_->passes.passes : 1; }
  /// Slots. What other slots these passes write is not written.
  const std::vector<std::size_t>& reads() const { return rows_ ? rows_->reads : pass_.reads; }
  const std::vector<std::size_t>& writes() const { return writes_; }

  /// As for a kernel (cpu/execute.hpp).
  Parts parts(std::uint64_t most) const;
  Prepared prepare(Inputs inputs, unsigned threads) const;
  void execute_part(Inputs inputs, const Preparation* prepared, const Part& part, Stores stores,
                    Destinations outputs) const;
  void execute_all(Inputs inputs, unsigned threads, std::span<std::byte* const> outputs) const;

 private:
  const Pass& pass_;  // the first
  std::optional<FusedRows> rows_;
  std::vector<std::size_t> writes_;
};

}  // namespace dmlop::cpu
