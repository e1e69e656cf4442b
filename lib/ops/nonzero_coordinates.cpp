// DML_OPERATOR_NONZERO_COORDINATES: how many elements are not zero, and a row of coordinates for
// each, in row-major order. The rows behind the last one are zeros.
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_nonzero_coordinates(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  NonzeroCountKernel count{.data_type = *input.data_type,
                           .axes = merged(strided_axes(input.sizes, {input_strides(input)})),
                           .block = std::uint64_t{1} << 16};
  const std::uint64_t blocks = count.output_elements();
  const std::size_t source = plan.tensor("InputTensor");

  const std::size_t counts = plan.temporary("the numbers in blocks", blocks, 8);
  plan.add(count, {source}, {counts});
  const std::size_t sums = plan.temporary("the sums of the numbers in blocks", blocks, 8);
  plan.add(ScanKernel{.data_type = DataType::UInt64, .axes = {.along = {blocks, {1}}}}, {counts},
           {sums});
  // The count is the low half of the last sum.
  plan.add(IndexMapKernel{.element_size = 4,
                          .offset = static_cast<std::int64_t>(2 * (blocks - 1)),
                          .axes = {IndexMapAxis{}}},
           {sums}, {plan.tensor("OutputCountTensor")});
  const std::uint64_t coordinates = description.tensor("OutputCoordinatesTensor").sizes.back();
  const Sizes extents(input.sizes.end() - static_cast<std::ptrdiff_t>(coordinates),
                      input.sizes.end());
  plan.add(NonzeroKernel{.count = std::move(count), .extents = extents}, {source, sums},
           {plan.tensor("OutputCoordinatesTensor")});
  return plan.take();
}

}  // namespace dmlop
