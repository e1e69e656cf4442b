// DML_OPERATOR_VALUE_SCALE_2D: x * Scale + Bias[channel].
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {

Plan plan_value_scale_2d(const Description& description) {
  constexpr std::size_t channel = 1;
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes, {}));
  const auto& bias = std::get<std::vector<double>>(description.find("Bias")->value);
  const RowValue zero = plan.constant(0), one = plan.constant(1);
  const auto scale = static_cast<float>(description.number("Scale", 1));
  plan.map("OutputTensor", RowFunction::normalize,
           {plan.tensor("InputTensor"), zero, one, plan.constant(scale),
            plan.constants(channel, {bias.begin(), bias.end()}), zero});
  return plan.take();
}

}  // namespace dmlop
