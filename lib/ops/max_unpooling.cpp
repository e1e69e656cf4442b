// DML_OPERATOR_MAX_UNPOOLING: zeros, with each element at its index into the whole output.
// MAX_POOLING_GRAD: each incoming gradient goes to the first largest element of its window; those
// that meet are added.
#include "ops/operator.hpp"
#include "ops/pooling.hpp"

namespace dmlop {

Plan plan_max_unpooling(const Description& description) {
  const TensorDesc& values = description.tensor("InputTensor");
  const TensorDesc& indices = description.tensor("IndicesTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  UnpoolKernel kernel{
      .data_type = *output.data_type,
      .index_type = *indices.data_type,
      .axes = merged(strided_axes(values.sizes, {input_strides(values), input_strides(indices)})),
      .image_extent = *element_count(output.sizes)};
  return single_pass(description, std::move(kernel), {"InputTensor", "IndicesTensor"},
                     "OutputTensor");
}

Plan plan_max_pooling_grad(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& gradient = description.tensor("InputGradientTensor");
  const MaxPlacesKernel maxima{.data_type = *input.data_type,
                               .index_type = DataType::UInt64,
                               .place_of_nothing = ~std::uint64_t{0},
                               .axes = pooling_axes(description, input, gradient)};
  const std::size_t values =
      plan.temporary("the maxima", maxima.output_elements(), size_of(maxima.data_type));
  const std::size_t places = plan.temporary("the places of the maxima", maxima.output_elements(),
                                            size_of(maxima.index_type));
  plan.add(maxima, {plan.tensor("InputTensor")}, {values, places});

  const std::uint64_t images = input.sizes[0] * input.sizes[1];
  UnpoolKernel sums{.data_type = *input.data_type,
                    .index_type = DataType::UInt64,
                    .axes = merged(strided_axes(
                        gradient.sizes, {input_strides(gradient), packed_strides(gradient.sizes)})),
                    .images = images,
                    .image_extent = *element_count(input.sizes) / images,
                    .adds = true};
  plan.add(std::move(sums), {plan.tensor("InputGradientTensor"), places},
           {plan.tensor("OutputGradientTensor")});
  return plan.take();
}

}  // namespace dmlop
