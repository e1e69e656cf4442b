// DML_OPERATOR_SPLIT: output j is the input from index sum(outputs before j) of Axis on.
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_split(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const auto axis = static_cast<std::size_t>(description.integer("Axis"));
  const Strides strides = input_strides(input);
  std::uint64_t begin = 0;
  for (std::size_t j = 0; const TensorDesc* output = description.find_tensor("OutputTensors", j);
       ++j) {
    IndexMapKernel kernel{.element_size = size_of(*input.data_type),
                          .offset = static_cast<std::int64_t>(begin * strides[axis])};
    for (std::size_t i = 0; i < output->sizes.size(); ++i)
      kernel.axes.push_back(
          {.extent = output->sizes[i], .stride = static_cast<std::int64_t>(strides[i])});
    plan.add(simplified(std::move(kernel)), {plan.tensor("InputTensor")},
             {plan.tensor("OutputTensors", j)});
    begin += output->sizes[axis];
  }
  return plan.take();
}

}  // namespace dmlop
