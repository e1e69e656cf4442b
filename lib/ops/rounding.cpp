// DML_OPERATOR_ELEMENT_WISE_ROUND and DML_OPERATOR_ELEMENT_WISE_IS_INFINITY: an enumeration chooses
// the expression.
#include "ops/element_wise.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

Plan plan_of(const Description& description, Expression expression) {
  PlanBuilder plan(description);
  const TensorDesc& output = description.tensor("OutputTensor");
  add_element_wise(plan, expression, output.sizes, {operand(plan, description, "InputTensor")},
                   plan.tensor("OutputTensor"), *output.data_type);
  return plan.take();
}

}  // namespace

// TOWARD_INFINITY rounds halves away from zero, as DirectML does.
Plan plan_round(const Description& description) {
  constexpr std::array modes{Expression::round_half_even, Expression::round_toward_zero,
                             Expression::round_half_away};
  return plan_of(description,
                 modes.at(static_cast<std::size_t>(description.integer("RoundingMode"))));
}

Plan plan_is_infinity(const Description& description) {
  constexpr std::array modes{Expression::is_infinity, Expression::is_positive_infinity,
                             Expression::is_negative_infinity};
  return plan_of(description,
                 modes.at(static_cast<std::size_t>(description.integer("InfinityMode"))));
}

}  // namespace dmlop
