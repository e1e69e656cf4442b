#include "ops/activation.hpp"

#include "ops/element_wise.hpp"

namespace dmlop {

const NestedOperator* fused_activation(const Description& description, std::string_view field) {
  const Field* found = description.find(field);
  if (found == nullptr) return nullptr;
  const auto* operators = std::get_if<std::vector<NestedOperator>>(&found->value);
  return operators == nullptr || operators->empty() ? nullptr : &operators->front();
}

void add_with_activation(PlanBuilder& plan, const Description& description, std::string_view output,
                         const std::function<Kernel(DataType written)>& make,
                         std::vector<std::size_t> reads, std::string_view activation) {
  const TensorDesc& desc = description.tensor(output);
  const NestedOperator* fused = fused_activation(description, activation);
  if (fused == nullptr)
    return plan.add(make(*desc.data_type), std::move(reads), {plan.tensor(output)});
  Kernel kernel = make(DataType::Float32);
  const std::uint64_t elements = output_elements(kernel);
  const std::size_t before =
      plan.temporary("the values before the activation", elements, sizeof(float));
  plan.add(std::move(kernel), std::move(reads), {before});
  add_element_wise(plan, *element_wise_expression(fused->spec->name), {elements},
                   {{before, DataType::Float32, {1}}}, plan.tensor(output), *desc.data_type,
                   parameters_of(*fused, DataType::Float32));
}

}  // namespace dmlop
