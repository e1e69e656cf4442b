// DML_OPERATOR_VALUE_SCALE_2D: x * Scale + Bias[channel].
#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

/// A temporary that holds the bias of each channel.
RowValue add_biases(RowPlan& plan, const std::vector<double>& bias) {
  JoinKernel join;
  std::vector<std::size_t> slots;
  for (const double value : bias) {
    const RowValue one = plan.temporary("a bias", {1}, DataType::Float32);
    add_element_wise(plan.builder(), Expression::identity, {1},
                     {plan.constant(static_cast<float>(value))}, one.slot, one.type);
    join.parts.push_back({.axes = {{.extent = 1}}});
    slots.push_back(one.slot);
  }
  const RowValue biases = plan.temporary("the biases", {1, bias.size(), 1, 1}, DataType::Float32);
  plan.builder().add(std::move(join), slots, {biases.slot});
  return biases;
}

}  // namespace

Plan plan_value_scale_2d(const Description& description) {
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes, {}));
  const RowValue bias =
      add_biases(plan, std::get<std::vector<double>>(description.find("Bias")->value));
  plan.map("OutputTensor", Expression::scale_and_add, {plan.tensor("InputTensor"), bias},
           {description.number("Scale", 1)});
  return plan.take();
}

}  // namespace dmlop
