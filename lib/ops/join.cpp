// DML_OPERATOR_JOIN: the inputs one after the other along Axis.
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_join(const Description& description) {
  PlanBuilder plan(description);
  const auto axis = static_cast<std::size_t>(description.integer("Axis"));
  JoinKernel kernel;
  std::vector<std::size_t> inputs;
  for (std::size_t j = 0; const TensorDesc* input = description.find_tensor("InputTensors", j);
       ++j) {
    kernel.parts.push_back(packed_copy(*input));
    inputs.push_back(plan.tensor("InputTensors", j));
  }
  const TensorDesc& output = description.tensor("OutputTensor");
  for (std::size_t i = 0; i < axis; ++i) kernel.outer *= output.sizes[i];
  plan.add(std::move(kernel), inputs, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
