// DML_OPERATOR_CUMULATIVE_SUMMATION and DML_OPERATOR_CUMULATIVE_PRODUCT: running sums and products
// along Axis, from either end.
#include "ops/operator.hpp"

namespace dmlop {
namespace {

Plan scan(const Description& description, bool is_product, const char* is_exclusive) {
  const TensorDesc& input = description.tensor("InputTensor");
  constexpr std::int64_t decreasing = 1;  // DML_AXIS_DIRECTION_DECREASING
  ScanKernel kernel{.data_type = *input.data_type,
                    .axes = sequences_of(description, input),
                    .is_product = is_product,
                    .from_end = description.integer("AxisDirection") == decreasing,
                    .is_exclusive = description.integer(is_exclusive) != 0};
  return single_pass(description, std::move(kernel), {"InputTensor"}, "OutputTensor");
}

}  // namespace

Plan plan_cumulative_summation(const Description& description) {
  return scan(description, false, "HasExclusiveSum");
}

Plan plan_cumulative_product(const Description& description) {
  return scan(description, true, "HasExclusiveProduct");
}

}  // namespace dmlop
