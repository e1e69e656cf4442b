// DML_OPERATOR_TOP_K1: the first K elements along Axis in the order of AxisDirection, and their
// indices.
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_top_k1(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const Strides strides = input_strides(input);
  constexpr std::int64_t decreasing = 1;  // DML_AXIS_DIRECTION_DECREASING
  TopKKernel kernel{
      .data_type = *input.data_type,
      .index_type = *description.tensor("OutputIndexTensor").data_type,
      .axis = static_cast<std::size_t>(description.integer("Axis")),
      .k = static_cast<std::uint64_t>(description.integer("K")),
      .is_descending = description.integer("AxisDirection") == decreasing,
  };
  for (std::size_t i = 0; i < input.sizes.size(); ++i)
    kernel.axes.push_back({input.sizes[i], strides[i]});
  plan.add(std::move(kernel), {plan.tensor("InputTensor")},
           {plan.tensor("OutputValueTensor"), plan.tensor("OutputIndexTensor")});
  return plan.take();
}

}  // namespace dmlop
