#include "cpu/plan.hpp"

#include <stdexcept>

#include "cpu/kinds.hpp"
#include "ops/expand.hpp"

namespace dmlop::cpu {

std::optional<Plan> plan_for_cpu(const Plan& plan) {
  return expanded(plan, [](const Kernel& kernel) {
    const auto* rows = std::get_if<RowsKernel>(&kernel);
    return rows != nullptr && runs_rows(*rows);
  });
}

PartShape part_shape(const LocalResponseKernel&, std::uint64_t) {
  return {};
}

void run_part(const LocalResponseKernel&, Inputs, const Part&, Stores, Destinations) {
  throw std::logic_error("the CPU runs local response normalization as passes");
}

}  // namespace dmlop::cpu
