// DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION, 1 and 2: rows with their mean removed and divided by
// the root of their variance.
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

Plan plan_normalization(const Description& description, const std::vector<std::int64_t>& axes,
                        bool uses_mean, bool uses_variance) {
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes, axes));
  const RowValue x = plan.tensor("InputTensor");
  RowValue mean = plan.constant(0), variance = plan.constant(1);
  if (uses_mean) mean = plan.reduced("the means", {.finish = ReduceFinish::mean}, {x});
  if (uses_variance) {
    const auto term = uses_mean ? ReduceTerm::squared_difference : ReduceTerm::square;
    const std::vector<RowValue> operands = uses_mean ? std::vector{x, mean} : std::vector{x};
    variance =
        plan.reduced("the variances", {.term = term, .finish = ReduceFinish::mean}, operands);
  }
  const double epsilon = uses_variance ? description.number("Epsilon", 0) : 0;
  plan.map("OutputTensor", Expression::normalize,
           {x, mean, variance, plan.tensor_or("ScaleTensor", 1), plan.tensor_or("BiasTensor", 0),
            plan.constant(0)},
           {epsilon});
  return plan.take();
}

bool is_set(const Description& description, std::string_view field) {
  return description.integer(field) != 0;
}

}  // namespace

Plan plan_mean_variance_normalization(const Description& description) {
  const std::vector<std::int64_t> each_channel{2, 3}, all_channels{1, 2, 3};
  return plan_normalization(description,
                            is_set(description, "CrossChannel") ? all_channels : each_channel, true,
                            is_set(description, "NormalizeVariance"));
}

Plan plan_mean_variance_normalization1(const Description& description) {
  return plan_normalization(description, description.integers("Axes"), true,
                            is_set(description, "NormalizeVariance"));
}

Plan plan_mean_variance_normalization2(const Description& description) {
  return plan_normalization(description, description.integers("Axes"),
                            is_set(description, "UseMean"), is_set(description, "UseVariance"));
}

}  // namespace dmlop
