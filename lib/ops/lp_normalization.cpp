// DML_OPERATOR_LP_NORMALIZATION: x / sqrt(norm^2 + Epsilon), with the L1 or L2 norm of the row.
#include <cmath>

#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {

Plan plan_lp_normalization(const Description& description) {
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes,
                                            {description.integer("Axis")}));
  plan.normalize(
      "OutputTensor",
      description.integer("P") == 1 ? RowOperation::by_norm_1 : RowOperation::by_norm_2,
      {.x = plan.tensor("InputTensor"), .epsilon = std::sqrt(description.number("Epsilon", 0))});
  return plan.take();
}

}  // namespace dmlop
