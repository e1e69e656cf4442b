// Plans as the CPU runs them.
#pragma once

#include <optional>

#include "ops/plan.hpp"

namespace dmlop::cpu {

/// The same computation by kernels that the CPU runs; nothing where the plan has no others
/// (ops/expand.hpp).
std::optional<Plan> plan_for_cpu(const Plan& plan);

}  // namespace dmlop::cpu
