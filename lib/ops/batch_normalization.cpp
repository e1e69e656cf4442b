// DML_OPERATOR_BATCH_NORMALIZATION, its training form, and the gradients of both.
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

double epsilon_of(const Description& description) {
  return description.number("Epsilon", 0);
}

/// What both gradients begin with: the gradients of bias and scale.
struct Gradients {
  RowValue x, gradient, mean, variance, scale;
  RowValue sum;          // of the gradients of a row
  RowValue product_sum;  // of gradient * (x - mean)
};

Gradients add_gradients(RowPlan& plan, double epsilon) {
  Gradients g{.x = plan.tensor("InputTensor"),
              .gradient = plan.tensor("InputGradientTensor"),
              .mean = plan.tensor("MeanTensor"),
              .variance = plan.tensor("VarianceTensor"),
              .scale = plan.tensor("ScaleTensor")};
  const RowValue zero = plan.constant(0), one = plan.constant(1);
  g.sum = plan.reduced("the sums of gradients", {}, {g.gradient});
  g.product_sum =
      plan.reduced("the sums of gradients and inputs",
                   {.term = ReduceTerm::product_with_difference}, {g.gradient, g.x, g.mean});
  plan.map_rows("OutputBiasGradientTensor", Expression::identity, {g.sum});
  plan.map_rows("OutputScaleGradientTensor", Expression::normalize,
                {g.product_sum, zero, g.variance, one, zero, zero}, {epsilon});
  return g;
}

RowPlan gradient_plan(const Description& description) {
  return {description, RowShape::around(description.tensor("InputTensor").sizes,
                                        description.tensor("MeanTensor").sizes)};
}

}  // namespace

Plan plan_batch_normalization(const Description& description) {
  const Sizes& sizes = description.tensor("InputTensor").sizes;
  RowPlan plan(description, RowShape::along(sizes, {}));
  plan.map("OutputTensor", Expression::normalize,
           {plan.tensor("InputTensor"), plan.tensor("MeanTensor"), plan.tensor("VarianceTensor"),
            plan.tensor("ScaleTensor"), plan.tensor("BiasTensor"), plan.constant(0)},
           {epsilon_of(description)});
  return plan.take();
}

Plan plan_batch_normalization_training(const Description& description) {
  RowPlan plan(description, RowShape::around(description.tensor("InputTensor").sizes,
                                             description.tensor("ScaleTensor").sizes));
  const RowValue x = plan.tensor("InputTensor");
  const RowValue mean = plan.reduced("the means", {.finish = ReduceFinish::mean}, {x});
  const RowValue variance = plan.reduced(
      "the variances", {.term = ReduceTerm::squared_difference, .finish = ReduceFinish::mean},
      {x, mean});
  plan.map("OutputTensor", Expression::normalize,
           {x, mean, variance, plan.tensor("ScaleTensor"), plan.tensor("BiasTensor"),
            plan.tensor_or("FusedAddTensor", 0)},
           {epsilon_of(description)});
  plan.map_rows("OutputMeanTensor", Expression::identity, {mean});
  plan.map_rows("OutputVarianceTensor", Expression::identity, {variance});
  return plan.take();
}

// Mean and variance are constants: the gradient is only scaled.
Plan plan_batch_normalization_grad(const Description& description) {
  RowPlan plan = gradient_plan(description);
  const double epsilon = epsilon_of(description);
  const Gradients g = add_gradients(plan, epsilon);
  const RowValue zero = plan.constant(0);
  plan.map("OutputGradientTensor", Expression::normalize,
           {g.gradient, zero, g.variance, g.scale, zero, zero}, {epsilon});
  return plan.take();
}

// They follow from the input.
Plan plan_batch_normalization_training_grad(const Description& description) {
  RowPlan plan = gradient_plan(description);
  const double epsilon = epsilon_of(description);
  const Gradients g = add_gradients(plan, epsilon);
  plan.map("OutputGradientTensor", Expression::batch_normalization_grad,
           {g.gradient, g.x, g.mean, g.variance, g.scale, g.sum, g.product_sum},
           {epsilon, static_cast<double>(plan.shape().length())});
  return plan.take();
}

}  // namespace dmlop
