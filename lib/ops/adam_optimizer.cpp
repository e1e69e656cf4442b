// DML_OPERATOR_ADAM_OPTIMIZER: parameters moved against a running mean of their gradients, divided
// by the root of a running mean of the squares.
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {

Plan plan_adam_optimizer(const Description& description) {
  const auto number = [&](std::string_view field) {
    return static_cast<float>(description.number(field, 0));
  };
  const float beta1 = number("Beta1"), beta2 = number("Beta2");
  const Sizes& sizes = description.tensor("InputParametersTensor").sizes;
  RowPlan plan(description, RowShape::around(sizes, Sizes(sizes.size(), 1)));
  // What corrects the bias of young means is the same for all parameters.
  const RowValue rate =
      plan.mapped("the corrected rate", RowFunction::adam_rate, {plan.tensor("TrainingStepTensor")},
                  {number("LearningRate"), beta1, beta2}, true);
  plan.map({"OutputParametersTensor", "OutputFirstMomentTensor", "OutputSecondMomentTensor"},
           RowFunction::adam,
           {plan.tensor("InputParametersTensor"), plan.tensor("InputFirstMomentTensor"),
            plan.tensor("InputSecondMomentTensor"), plan.tensor("GradientTensor"), rate},
           {beta1, beta2, number("Epsilon")});
  return plan.take();
}

}  // namespace dmlop
