// DML_OPERATOR_MEAN_VARIANCE_NORMALIZATION, 1 and 2: rows with their mean removed and divided by
// the root of their variance.
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

Plan plan_normalization(const Description& description, const std::vector<std::int64_t>& axes,
                        bool uses_mean, bool uses_variance) {
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes, axes));
  RowOperands operands{.x = plan.tensor("InputTensor")};
  operands.scale = plan.tensor_or("ScaleTensor", 1);
  operands.bias = plan.tensor_or("BiasTensor", 0);
  if (!uses_mean && !uses_variance) {  // no rows are left
    const RowValue zero = plan.constant(0), one = plan.constant(1);
    plan.map("OutputTensor", Expression::normalize,
             {operands.x, zero, one, operands.scale, operands.bias, zero});
    return plan.take();
  }
  if (uses_variance) operands.epsilon = description.number("Epsilon", 0);
  plan.normalize("OutputTensor",
                 !uses_variance ? RowOperation::center
                 : uses_mean    ? RowOperation::normalize
                                : RowOperation::normalize_about_0,
                 operands);
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
