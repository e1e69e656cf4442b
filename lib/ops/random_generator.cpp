// DML_OPERATOR_RANDOM_GENERATOR: random bits that follow from a state, and the state behind them.
#include "ops/operator.hpp"
#include "tensor/layout.hpp"

namespace dmlop {

Plan plan_random_generator(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& state = description.tensor("InputStateTensor");
  RandomBitsKernel kernel{
      .elements = element_count(description.tensor("OutputTensor").sizes).value_or(0),
      .state_stride = input_strides(state).back()};
  const std::size_t input = plan.tensor("InputStateTensor");
  plan.add(kernel, {input}, {plan.tensor("OutputTensor")});
  if (const auto next = plan.find("OutputStateTensor")) {
    kernel.is_next_state = true;
    plan.add(kernel, {input}, {*next});
  }
  return plan.take();
}

}  // namespace dmlop
