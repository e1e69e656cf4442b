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

Plan plan_rows(const Description& description, RowOperation operation) {
  RowPlan plan(description, rows_of(description));
  plan.normalize("OutputTensor", operation, {plan.tensor("InputTensor")});
  return plan.take();
}

}  // namespace

void add_softmax(PlanBuilder& plan, const Description& description, const FieldSet& fields,
                 const ElementWiseOperand& values, std::string_view output) {
  const TensorDesc& desc = description.tensor(output);
  add_rows(plan, RowOperation::softmax, rows_of(fields, desc.sizes), {values}, plan.tensor(output),
           *desc.data_type);
}

Plan plan_softmax(const Description& description) {
  return plan_rows(description, RowOperation::softmax);
}

Plan plan_log_softmax(const Description& description) {
  return plan_rows(description, RowOperation::log_softmax);
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
