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

// Nothing for softmax, the only other that may be fused.
std::optional<Activation> activation_of(const NestedOperator& fused) {
  const auto expression = element_wise_expression(fused.spec->name);
  if (!expression) return {};
  return Activation{{*expression, parameters_of(fused, DataType::Float32)}, input_scale_of(fused)};
}

// Over packed FLOAT32 values.
void add_activation(PlanBuilder& plan, const Description& description, const NestedOperator& fused,
                    std::size_t values, std::string_view output) {
  const TensorDesc& desc = description.tensor(output);
  if (const auto activation = activation_of(fused))
    return plan.add(activation_kernel(*activation, desc.sizes, *desc.data_type), {values},
                    {plan.tensor(output)});
  add_softmax(plan, description, fused, {values, DataType::Float32, packed_strides(desc.sizes)},
              output);
}

}  // namespace

const NestedOperator* fused_activation(const Description& description, std::string_view field) {
  const auto* operators = operators_of(description, field);
  return operators == nullptr || operators->empty() ? nullptr : &operators->front();
}

std::optional<Activation> element_wise_activation(const Description& description) {
  const NestedOperator* fused = fused_activation(description);
  return fused == nullptr ? std::nullopt : std::optional(activation_of(*fused).value());
}

ElementWiseKernel activation_kernel(const Activation& activation, const Sizes& sizes,
                                    DataType output_type) {
  const auto& [expression, parameters] = activation.function;
  ElementWiseKernel kernel = element_wise(
      expression, sizes, {{0, DataType::Float32, packed_strides(sizes)}}, output_type, parameters);
  kernel.input_scale = activation.input_scale;
  return kernel;
}

std::size_t add_before_activation(PlanBuilder& plan, Kernel kernel,
                                  std::vector<std::size_t> reads) {
  const std::size_t values =
      plan.temporary("the values before the activation", output_elements(kernel), sizeof(float));
  plan.add(std::move(kernel), std::move(reads), {values});
  return values;
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
  const std::size_t values = add_before_activation(plan, make(DataType::Float32), std::move(reads));
  add_activation(plan, description, *fused, values, output);
}

}  // namespace dmlop
