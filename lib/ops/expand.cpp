#include "ops/expand.hpp"

#include <type_traits>

namespace dmlop {
namespace {

template <typename Kind>
concept HasPasses = requires(PlanBuilder& plan, const Kind& kernel, const Pass& pass) {
  add_passes(plan, kernel, pass);
};

/// Adds the passes of a kernel, if it has any and the backend does not run it; returns whether.
bool expand(PlanBuilder& plan, const Pass& pass, const Runs& runs) {
  return std::visit(
      [&]<typename Kind>(const Kind& kernel) {
        if constexpr (HasPasses<Kind>) {
          if (runs(pass.kernel)) return false;
          add_passes(plan, kernel, pass);
          return true;
        }
        return false;
      },
      pass.kernel);
}

}  // namespace

Plan expanded(const Plan& plan, const Runs& runs) {
  PlanBuilder builder(plan.slots);
  bool is_done = true;
  for (const Pass& pass : plan.passes) {
    if (expand(builder, pass, runs))
      is_done = false;
    else
      builder.add(pass.kernel, pass.reads, pass.writes);
  }
  Plan made = builder.take();
  return is_done ? made : expanded(made, runs);
}

Plan as_passes(const Plan& plan) {
  return expanded(plan, [](const Kernel&) { return false; });
}

}  // namespace dmlop
