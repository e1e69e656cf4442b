// The operators of softmax, over the last axis or any axes.
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

// Without Axes the last one.
RowShape rows_of(const Description& description) {
  const Sizes& sizes = description.tensor("InputTensor").sizes;
  if (description.find("Axes") != nullptr)
    return RowShape::along(sizes, description.integers("Axes"));
  return RowShape::along(sizes, {static_cast<std::int64_t>(sizes.size()) - 1});
}

// e^(x - m) with the maximum m: its sums are never infinite.
Plan plan_exponential(const Description& description, Expression expression, ReduceFinish finish) {
  RowPlan plan(description, rows_of(description));
  const RowValue x = plan.tensor("InputTensor");
  const RowValue largest = plan.reduced("the maxima", {.function = ReduceFunction::maximum}, {x});
  const RowValue sum = plan.reduced(
      "the sums of powers", {.term = ReduceTerm::exponential, .finish = finish}, {x, largest});
  plan.map("OutputTensor", expression, {x, largest, sum});
  return plan.take();
}

}  // namespace

Plan plan_softmax(const Description& description) {
  return plan_exponential(description, Expression::softmax, ReduceFinish::none);
}

Plan plan_log_softmax(const Description& description) {
  return plan_exponential(description, Expression::log_softmax, ReduceFinish::softmax_logarithm);
}

Plan plan_hardmax(const Description& description) {
  RowPlan plan(description, rows_of(description));
  const RowValue index =
      plan.reduced("the indices of the maxima", {.function = ReduceFunction::index_of_maximum},
                   {plan.tensor("InputTensor")}, DataType::UInt64);
  plan.map("OutputTensor", Expression::equals, {plan.positions(), index});
  return plan.take();
}

}  // namespace dmlop
