// DML_OPERATOR_DYNAMIC_QUANTIZE_LINEAR: quantizes by the range of the elements, widened to hold 0.
#include <numeric>

#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {

Plan plan_dynamic_quantize_linear(const Description& description) {
  const Sizes& sizes = description.tensor("InputTensor").sizes;
  const DataType type = *description.tensor("OutputTensor").data_type;
  std::vector<std::int64_t> all_axes(sizes.size());
  std::iota(all_axes.begin(), all_axes.end(), 0);
  RowPlan plan(description, RowShape::along(sizes, all_axes));
  const RowValue x = plan.tensor("InputTensor");
  const RowValue least =
      plan.reduced("the least element", {.function = ReduceFunction::minimum}, {x});
  const RowValue largest =
      plan.reduced("the largest element", {.function = ReduceFunction::maximum}, {x});
  const double first = type == DataType::Int8 ? -128 : 0;
  const RowValue scale =
      plan.mapped_rows("the scale", Expression::range_scale, {least, largest}, DataType::Float32);
  const RowValue zero_point = plan.mapped_rows("the zero point", Expression::range_zero_point,
                                               {least, scale}, type, {first});
  plan.map_rows("OutputScaleTensor", Expression::range_scale, {least, largest});
  plan.map_rows("OutputZeroPointTensor", Expression::range_zero_point, {least, scale}, {first});
  plan.map("OutputTensor", Expression::quantize_range, {x, scale, zero_point});
  return plan.take();
}

}  // namespace dmlop
