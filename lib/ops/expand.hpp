// Kernels that a backend may lack, or have for some layouts and types only: the passes that compute
// the same. A planner says what it means by one kernel; a backend that cannot run it expands it.
#pragma once

#include <functional>
#include <optional>

#include "ops/plan.hpp"

namespace dmlop {

/// Adds the passes that compute what the pass of a kernel does: one overload for each kind that has
/// them. Their kernels may have passes, too.
void add_passes(PlanBuilder& plan, const RowsKernel& kernel, const Pass& pass);
void add_passes(PlanBuilder& plan, const LocalResponseKernel& kernel, const Pass& pass);

/// Whether a backend runs a kernel that has passes.
using Runs = std::function<bool(const Kernel& kernel)>;

/// The same computation by kernels that have no passes or that the backend runs; nothing where the
/// plan has no others. Temporaries that it adds stand behind the slots of the plan.
std::optional<Plan> expanded(const Plan& plan, const Runs& runs);

/// The same by kernels without passes alone: budgets of memory count what these need.
Plan as_passes(const Plan& plan);

}  // namespace dmlop
