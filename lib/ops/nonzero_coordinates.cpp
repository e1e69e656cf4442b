// DML_OPERATOR_NONZERO_COORDINATES: how many elements are not zero, and a row of coordinates for
// each, in row-major order. The rows behind the last one are zeros.
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_nonzero_coordinates(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const Strides strides = input_strides(input);
  NonzeroCountKernel count{.data_type = *input.data_type, .block = std::uint64_t{1} << 16};
  for (std::size_t i = 0; i < input.sizes.size(); ++i)
    count.axes.push_back({input.sizes[i], strides[i]});
  const std::uint64_t blocks = count.output_elements();
  const std::size_t source = plan.tensor("InputTensor");

  const std::size_t counts = plan.temporary("the numbers in blocks", blocks, 8);
  plan.add(count, {source}, {counts});
  const std::size_t sums = plan.temporary("the sums of the numbers in blocks", blocks, 8);
  plan.add(ScanKernel{.data_type = DataType::UInt64, .axes = {{blocks, 1}}}, {counts}, {sums});
  // The count is the low half of the last sum.
  plan.add(IndexMapKernel{.element_size = 4,
                          .offset = static_cast<std::int64_t>(2 * (blocks - 1)),
                          .axes = {IndexMapAxis{}}},
           {sums}, {plan.tensor("OutputCountTensor")});
  const std::size_t coordinates = description.tensor("OutputCoordinatesTensor").sizes.back();
  plan.add(NonzeroKernel{.count = std::move(count), .coordinates = coordinates}, {source, sums},
           {plan.tensor("OutputCoordinatesTensor")});
  return plan.take();
}

}  // namespace dmlop
