#include "ops/activation.hpp"

#include "base/error.hpp"

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
  if (fused_activation(description, activation) != nullptr)
    throw Error(ErrorKind::unavailable, "fused activations are not implemented");
  const DataType type = *description.tensor(output).data_type;
  plan.add(make(type), std::move(reads), {plan.tensor(output)});
}

}  // namespace dmlop
