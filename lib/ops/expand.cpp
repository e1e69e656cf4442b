#include "ops/expand.hpp"

#include <algorithm>

namespace dmlop {
namespace {

template <typename Kind>
concept HasPasses = requires(PlanBuilder& plan, const Kind& kernel, const Pass& pass) {
  add_passes(plan, kernel, pass);
};

// Whether the plan may keep the pass.
bool is_run(const Pass& pass, const Runs& runs) {
  const auto has_passes = []<typename Kind>(const Kind&) { return HasPasses<Kind>; };
  return !std::visit(has_passes, pass.kernel) || runs(pass.kernel);
}

void expand(PlanBuilder& plan, const Pass& pass) {
  std::visit(
      [&]<typename Kind>(const Kind& kernel) {
        if constexpr (HasPasses<Kind>) add_passes(plan, kernel, pass);
      },
      pass.kernel);
}

}  // namespace

std::optional<Plan> expanded(const Plan& plan, const Runs& runs) {
  const auto is_kept = [&](const Pass& pass) { return is_run(pass, runs); };
  if (std::all_of(plan.passes.begin(), plan.passes.end(), is_kept)) return std::nullopt;
  PlanBuilder builder(plan.slots);
  for (const Pass& pass : plan.passes) {
    if (is_kept(pass))
      builder.add(pass.kernel, pass.reads, pass.writes);
    else
      expand(builder, pass);
  }
  Plan made = builder.take();
  return expanded(made, runs).value_or(made);
}

Plan as_passes(const Plan& plan) {
  return expanded(plan, [](const Kernel&) { return false; }).value_or(plan);
}

}  // namespace dmlop
