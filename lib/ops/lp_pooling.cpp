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

}  // namespace

Plan plan_lp_pooling(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto p = static_cast<std::uint64_t>(description.integer("P"));
  std::vector<WindowAxis> axes = pooling_axes(description, input, output);
  if (p == 0) return counts_to_infinity(std::move(plan), input, output, std::move(axes));
  plan.add(WindowKernel{.data_type = *input.data_type,
                        .function = WindowFunction::norm,
                        .axes = std::move(axes),
                        .p = p},
           {plan.tensor("InputTensor")}, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
