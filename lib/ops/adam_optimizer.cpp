// DML_OPERATOR_ADAM_OPTIMIZER: parameters moved against a running mean of their gradients, divided
// by the root of a running mean of the squares.
#include <cmath>

#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {

Plan plan_adam_optimizer(const Description& description) {
  const double beta1 = description.number("Beta1", 0), beta2 = description.number("Beta2", 0);
  const Sizes& sizes = description.tensor("InputParametersTensor").sizes;
  RowPlan plan(description, RowShape::around(sizes, Sizes(sizes.size(), 1)));
  const RowValue parameter = plan.tensor("InputParametersTensor");
  const RowValue first = plan.tensor("InputFirstMomentTensor");
  const RowValue second = plan.tensor("InputSecondMomentTensor");
  const RowValue gradient = plan.tensor("GradientTensor");
  // What corrects the bias of young means is the same for all parameters.
  const RowValue rate =
      plan.temporary("the corrected rate", Sizes(sizes.size(), 1), DataType::Float32);
  add_element_wise(plan.builder(), Expression::adam_rate, Sizes(sizes.size(), 1),
                   {plan.tensor("TrainingStepTensor")}, rate.slot, rate.type,
                   parameters({description.number("LearningRate", 0), std::log(beta1), std::log(beta2)}));
  plan.map("OutputParametersTensor", Expression::adam, {parameter, first, second, gradient, rate},
           {beta1, beta2, description.number("Epsilon", 0)});
  plan.map("OutputFirstMomentTensor", Expression::running_mean, {first, gradient}, {beta1});
  plan.map("OutputSecondMomentTensor", Expression::running_mean_square, {second, gradient},
           {beta2});
  return plan.take();
}

}  // namespace dmlop
