// DML_OPERATOR_REDUCE, ARGMIN and ARGMAX: rows of elements made one.
#include "ops/operator.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

/// DML_REDUCE_FUNCTION, in its order.
enum class Function : std::int64_t {
  argmax,
  argmin,
  average,
  l1,
  l2,
  log_sum,
  log_sum_exp,
  max,
  min,
  multiply,
  sum,
  sum_square,
};

// LOG_SUM_EXP is taken otherwise.
Reduction reduction_of(Function function) {
  using enum ReduceFunction;
  switch (function) {
    case Function::argmax:
      return {.function = index_of_maximum};
    case Function::argmin:
      return {.function = index_of_minimum};
    case Function::max:
      return {.function = maximum};
    case Function::min:
      return {.function = minimum};
    case Function::multiply:
      return {.function = product};
    case Function::average:
      return {.finish = ReduceFinish::mean};
    case Function::l1:
      return {.term = ReduceTerm::magnitude};
    case Function::l2:
      return {.term = ReduceTerm::square, .finish = ReduceFinish::root};
    case Function::log_sum:
      return {.finish = ReduceFinish::logarithm};
    case Function::sum_square:
      return {.term = ReduceTerm::square};
    case Function::sum:
    case Function::log_sum_exp:
      break;
  }
  return {};
}

RowShape reduced_rows(const Description& description) {
  return RowShape::along(description.tensor("InputTensor").sizes, description.integers("Axes"));
}

Plan plan_index(const Description& description, ReduceFunction function) {
  constexpr std::int64_t decreasing = 1;  // DML_AXIS_DIRECTION_DECREASING
  RowPlan plan(description, reduced_rows(description));
  plan.reduce(
      "OutputTensor",
      {.function = function, .takes_last = description.integer("AxisDirection") == decreasing},
      {plan.tensor("InputTensor")});
  return plan.take();
}

}  // namespace

Plan plan_reduce(const Description& description) {
  const auto function = static_cast<Function>(description.integer("Function"));
  RowPlan plan(description, reduced_rows(description));
  const RowValue x = plan.tensor("InputTensor");
  if (function != Function::log_sum_exp) {
    plan.reduce("OutputTensor", reduction_of(function), {x});
    return plan.take();
  }
  // log(sum of e^x) = m + log(sum of e^(x - m)), where no power is infinite if m is the maximum.
  const RowValue largest = plan.reduced("the maxima", {.function = ReduceFunction::maximum}, {x});
  const RowValue sum =
      plan.reduced("the sums of powers", {.term = ReduceTerm::finite_exponential}, {x, largest});
  plan.map_rows("OutputTensor", Expression::shifted_log, {sum, largest});
  return plan.take();
}

Plan plan_argmin(const Description& description) {
  return plan_index(description, ReduceFunction::index_of_minimum);
}

Plan plan_argmax(const Description& description) {
  return plan_index(description, ReduceFunction::index_of_maximum);
}

}  // namespace dmlop
