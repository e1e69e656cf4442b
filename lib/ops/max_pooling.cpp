// DML_OPERATOR_MAX_POOLING, 1 and 2: the largest element of each window and, if asked for, its
// index into the whole input.
#include "ops/operator.hpp"
#include "ops/pooling.hpp"

namespace dmlop {

Plan plan_max_pooling(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  auto axes = pooling_axes(description, input, description.tensor("OutputTensor"));
  const std::size_t reads = plan.tensor("InputTensor"), values = plan.tensor("OutputTensor");
  if (const auto indices = plan.find("OutputIndicesTensor")) {
    const DataType index_type = *description.tensor("OutputIndicesTensor").data_type;
    plan.add(
        MaxPlacesKernel{
            .data_type = *input.data_type, .index_type = index_type, .axes = std::move(axes)},
        {reads}, {values, *indices});
  } else {
    plan.add(WindowKernel{.data_type = *input.data_type,
                          .function = WindowFunction::maximum,
                          .axes = std::move(axes)},
             {reads}, {values});
  }
  return plan.take();
}

}  // namespace dmlop
