// Plans as the CPU runs them.
#pragma once

#include "ops/plan.hpp"

namespace dmlop::cpu {

/// The same computation by kernels that the CPU runs (ops/expand.hpp).
Plan plan_for_cpu(const Plan& plan);

}  // namespace dmlop::cpu
