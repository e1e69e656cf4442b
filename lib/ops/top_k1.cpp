// DML_OPERATOR_TOP_K1: the first K elements along Axis in the order of AxisDirection, and their
// indices. DML_OPERATOR_TOP_K: the same, the largest first.
#include "ops/operator.hpp"

namespace dmlop {

namespace {

Plan selection(const Description& description, bool is_descending) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  TopKKernel kernel{
      .data_type = *input.data_type,
      .index_type = *description.tensor("OutputIndexTensor").data_type,
      .axes = sequences_of(description, input),
      .k = static_cast<std::uint64_t>(description.integer("K")),
      .is_descending = is_descending,
  };
  plan.add(std::move(kernel), {plan.tensor("InputTensor")},
           {plan.tensor("OutputValueTensor"), plan.tensor("OutputIndexTensor")});
  return plan.take();
}

}  // namespace

Plan plan_top_k(const Description& description) {
  return selection(description, true);
}

Plan plan_top_k1(const Description& description) {
  constexpr std::int64_t decreasing = 1;  // DML_AXIS_DIRECTION_DECREASING
  return selection(description, description.integer("AxisDirection") == decreasing);
}

}  // namespace dmlop
