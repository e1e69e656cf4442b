// DML_OPERATOR_LP_POOLING: Y = (sum over the window of |x|^P)^(1/P); padding contributes 0.
// LP_POOLING1 has a step between the elements of a window.
#include <limits>

#include "ops/element_wise.hpp"
#include "ops/operator.hpp"
#include "ops/pooling.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

/// With a P of 0: every power is 1, and the norm is the number of elements to the power of 1 / 0.
Plan counts_to_infinity(PlanBuilder plan, const TensorDesc& input, const TensorDesc& output,
                        std::vector<WindowAxis> axes) {
  const DataType type = *input.data_type;
  plan.tensor("InputTensor");
  const std::size_t one = plan.temporary("the number 1", 1, size_of(type));
  plan.add(SequenceKernel{.data_type = type, .start = element_from(type, 1), .elements = 1}, {},
           {one});
  for (WindowAxis& axis : axes) axis.input_stride = 0;
  const std::size_t counts = plan.temporary("the numbers of elements",
                                            element_count(output.sizes).value_or(0), size_of(type));
  plan.add(WindowKernel{.data_type = type, .axes = std::move(axes)}, {one}, {counts});
  add_element_wise(plan, Expression::constant_pow, output.sizes,
                   {{counts, type, packed_strides(output.sizes)}}, plan.tensor("OutputTensor"),
                   type, {{{.real = std::numeric_limits<double>::infinity()}}});
  return plan.take();
}

PoolingAxis pooling_axis(const WindowAxis& axis) {
  const auto& windows = std::get<Windows>(axis.reach);
  return {.input_extent = axis.input_extent,
          .output_extent = axis.output_extent,
          .input_stride = axis.input_stride,
          .window = windows.size,
          .window_stride = windows.stride,
          .dilation = windows.dilation,
          .start_padding = static_cast<std::int64_t>(windows.start_padding)};
}

}  // namespace

Plan plan_lp_pooling(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto p = static_cast<std::uint64_t>(description.integer("P"));
  std::vector<WindowAxis> axes = pooling_axes(description, input, output);
  if (p == 0) return counts_to_infinity(std::move(plan), input, output, std::move(axes));
  LpPoolingKernel kernel{.data_type = *input.data_type,
                         .batch_extents = {axes[0].input_extent, axes[1].input_extent},
                         .batch_strides = {axes[0].input_stride, axes[1].input_stride},
                         .p = p};
  auto to = kernel.axes.rbegin();
  for (std::size_t i = axes.size(); i-- > 2;) *to++ = pooling_axis(axes[i]);
  plan.add(kernel, {plan.tensor("InputTensor")}, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
