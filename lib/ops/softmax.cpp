// The operators of softmax, over the last axis or any axes.
#include "ops/softmax.hpp"

#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

// Without Axes the last one.
RowShape rows_of(const FieldSet& fields, const Sizes& sizes) {
  if (fields.find("Axes") != nullptr) return RowShape::along(sizes, fields.integers("Axes"));
  return RowShape::along(sizes, {static_cast<std::int64_t>(sizes.size()) - 1});
}

RowShape rows_of(const Description& description) {
  return rows_of(description, description.tensor("InputTensor").sizes);
}

// x, the maximum m of its row, and the sum of e^(x - m), which is never infinite.
std::vector<RowValue> exponentials(RowPlan& plan, const RowValue& x, ReduceFinish finish) {
  const RowValue largest = plan.reduced("the maxima", {.function = ReduceFunction::maximum}, {x});
  const RowValue sum = plan.reduced(
      "the sums of powers", {.term = ReduceTerm::exponential, .finish = finish}, {x, largest});
  return {x, largest, sum};
}

Plan plan_exponential(const Description& description, Expression expression, ReduceFinish finish) {
  RowPlan plan(description, rows_of(description));
  plan.map("OutputTensor", expression, exponentials(plan, plan.tensor("InputTensor"), finish));
  return plan.take();
}

}  // namespace

void add_softmax(PlanBuilder& plan, const Description& description, const FieldSet& fields,
                 const ElementWiseOperand& values, std::string_view output) {
  const TensorDesc& desc = description.tensor(output);
  RowPlan rows(description, rows_of(fields, desc.sizes), plan);
  add_element_wise(plan, Expression::softmax, desc.sizes,
                   exponentials(rows, values, ReduceFinish::none), plan.tensor(output),
                   *desc.data_type);
}

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
                   {plan.tensor("InputTensor")}, plan.position_type());
  plan.map("OutputTensor", Expression::equals, {plan.positions(), index});
  return plan.take();
}

}  // namespace dmlop
