// DML_OPERATOR_LP_NORMALIZATION: x / sqrt(norm^2 + Epsilon), with the L1 or L2 norm of the row.
#include <cmath>

#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {

Plan plan_lp_normalization(const Description& description) {
  RowPlan plan(description, RowShape::along(description.tensor("InputTensor").sizes,
                                            {description.integer("Axis")}));
  const RowValue x = plan.tensor("InputTensor");
  const Reduction sum{.term = ReduceTerm::magnitude};
  const Reduction root{.term = ReduceTerm::square, .finish = ReduceFinish::root};
  const RowValue norm = plan.reduced("the norms", description.integer("P") == 1 ? sum : root, {x});
  plan.map("OutputTensor", Expression::divide_by_norm, {x, norm},
           {std::sqrt(description.number("Epsilon", 0))});
  return plan.take();
}

}  // namespace dmlop
