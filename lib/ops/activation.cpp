#include "ops/activation.hpp"

#include "ops/element_wise.hpp"
#include "ops/softmax.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

const std::vector<NestedOperator>* operators_of(const Description& description,
                                                std::string_view field) {
  const Field* found = description.find(field);
  return found == nullptr ? nullptr : std::get_if<std::vector<NestedOperator>>(&found->value);
}

// The pass of an activation over packed FLOAT32 values.
void add_activation(PlanBuilder& plan, const Description& description, const NestedOperator& fused,
                    std::size_t values, std::string_view output) {
  const TensorDesc& desc = description.tensor(output);
  const auto expression = element_wise_expression(fused.spec->name);
  if (!expression) {  // the others that may be fused
    return add_softmax(plan, description, fused,
                       {values, DataType::Float32, packed_strides(desc.sizes)}, output);
  }
  ElementWiseKernel kernel =
      element_wise(*expression, desc.sizes,
                   {{values, DataType::Float32, packed_strides(desc.sizes)}}, *desc.data_type,
                   parameters_of(fused, DataType::Float32));
  kernel.input_scale = input_scale_of(fused);
  plan.add(std::move(kernel), {values}, {plan.tensor(output)});
}

}  // namespace

const NestedOperator* fused_activation(const Description& description, std::string_view field) {
  const auto* operators = operators_of(description, field);
  return operators == nullptr || operators->empty() ? nullptr : &operators->front();
}

std::vector<NumberFunction> activations_of(const Description& description, std::string_view field) {
  std::vector<NumberFunction> functions;
  for (const NestedOperator& activation : *operators_of(description, field))
    functions.push_back({element_wise_expression(activation.spec->name).value(),
                         parameters_of(activation, DataType::Float32)});
  return functions;
}

void add_with_activation(PlanBuilder& plan, const Description& description, std::string_view output,
                         const std::function<Kernel(DataType written)>& make,
                         std::vector<std::size_t> reads, std::string_view activation) {
  const NestedOperator* fused = fused_activation(description, activation);
  if (fused == nullptr) {
    const DataType type = *description.tensor(output).data_type;
    return plan.add(make(type), std::move(reads), {plan.tensor(output)});
  }
  Kernel kernel = make(DataType::Float32);
  const std::size_t values = plan.temporary("the values before the activation",
                                            output_elements(kernel), sizeof(float));
  plan.add(std::move(kernel), std::move(reads), {values});
  add_activation(plan, description, *fused, values, output);
}

}  // namespace dmlop
