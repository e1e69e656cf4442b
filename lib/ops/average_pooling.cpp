// DML_OPERATOR_AVERAGE_POOLING and AVERAGE_POOLING1: the mean of each window, where padding counts
// 0 or not at all. AVERAGE_POOLING_GRAD goes the other way: an element gets its share of every
// window that it was in. QUANTIZED_LINEAR_AVERAGE_POOLING is the mean of dequantized elements,
// quantized.
#include "ops/operator.hpp"
#include "ops/pooling.hpp"

namespace dmlop {
namespace {

// The distance between the values of a scale or zero point for one channel and the next.
std::uint64_t channel_stride(const TensorDesc& tensor) {
  const Strides strides = input_strides(tensor);
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    if (tensor.sizes[i] > 1) return strides[i];
  }
  return 0;
}

}  // namespace

Plan plan_average_pooling(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  WindowKernel kernel{.data_type = *input.data_type,
                      .axes = pooling_axes(description, input, description.tensor("OutputTensor"),
                                           divisor_of(description))};
  return single_pass(description, std::move(kernel), {"InputTensor"}, "OutputTensor");
}

Plan plan_average_pooling_grad(const Description& description) {
  const TensorDesc& input = description.tensor("InputGradientTensor");
  WindowKernel kernel{
      .data_type = *input.data_type,
      .axes = pooling_axes(description, input, description.tensor("OutputGradientTensor"),
                           divisor_of(description))};
  for (WindowAxis& axis : kernel.axes) axis.is_transposed = true;
  return single_pass(description, std::move(kernel), {"InputGradientTensor"},
                     "OutputGradientTensor");
}

Plan plan_quantized_linear_average_pooling(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  std::vector<std::size_t> reads{plan.tensor("InputTensor")};
  const auto stride_of = [&](const char* field) -> std::optional<std::uint64_t> {
    const auto slot = plan.find(field);
    if (!slot) return std::nullopt;
    reads.push_back(*slot);
    return channel_stride(description.tensor(field));
  };
  Requantization requantization;
  requantization.input_scale_stride = *stride_of("InputScaleTensor");
  requantization.input_zero_point_stride = stride_of("InputZeroPointTensor");
  requantization.output_scale_stride = *stride_of("OutputScaleTensor");
  requantization.output_zero_point_stride = stride_of("OutputZeroPointTensor");
  WindowKernel kernel{.data_type = *input.data_type,
                      .axes = pooling_axes(description, input, description.tensor("OutputTensor"),
                                           divisor_of(description)),
                      .requantization = requantization};
  plan.add(std::move(kernel), reads, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
