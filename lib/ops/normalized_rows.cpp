// The passes of rows that are normalized by what they add up to.
#include <stdexcept>

#include "ops/activation.hpp"
#include "ops/expand.hpp"
#include "ops/rows.hpp"

namespace dmlop {
namespace {

/// What a row is reduced to, each value by the elements and the values before it, and what becomes
/// of an element by them.
struct RowFormula {
  struct Value {
    const char* what;  // in a message
    Reduction reduction;
  };
  Expression expression;
  std::vector<Value> values;
};

RowFormula formula_of(RowOperation operation) {
  const RowFormula::Value maxima{"the maxima", {.function = ReduceFunction::maximum}};
  const RowFormula::Value means{"the means", {.finish = ReduceFinish::mean}};
  const auto powers = [](ReduceFinish finish) -> RowFormula::Value {  // less the maximum: finite
    return {"the sums of powers", {.term = ReduceTerm::exponential, .finish = finish}};
  };
  const auto variances = [](ReduceTerm term) -> RowFormula::Value {
    return {"the variances", {.term = term, .finish = ReduceFinish::mean}};
  };
  const auto norms = [](ReduceTerm term, ReduceFinish finish) -> RowFormula::Value {
    return {"the norms", {.term = term, .finish = finish}};
  };
  switch (operation) {
    case RowOperation::softmax:
      return {Expression::softmax, {maxima, powers(ReduceFinish::none)}};
    case RowOperation::log_softmax:
      return {Expression::log_softmax, {maxima, powers(ReduceFinish::softmax_logarithm)}};
    case RowOperation::center:
      return {Expression::normalize, {means}};
    case RowOperation::normalize:
      return {Expression::normalize, {means, variances(ReduceTerm::squared_difference)}};
    case RowOperation::normalize_about_0:
      return {Expression::normalize, {variances(ReduceTerm::square)}};
    case RowOperation::by_norm_1:
      return {Expression::divide_by_norm, {norms(ReduceTerm::magnitude, ReduceFinish::none)}};
    case RowOperation::by_norm_2:
      return {Expression::divide_by_norm, {norms(ReduceTerm::square, ReduceFinish::root)}};
  }
  throw std::logic_error("an operation of rows has no formula");
}

/// The operands of Expression::normalize: x, mean, variance, scale, bias and what else is added.
std::vector<RowValue> normalized_operands(RowOperation operation,
                                          const std::vector<RowValue>& values,
                                          const RowValue& scale, const RowValue& bias) {
  const bool has_mean = operation != RowOperation::normalize_about_0;
  const bool has_variance = operation != RowOperation::center;
  const RowValue zero{.constant = 0.0F}, one{.constant = 1.0F};
  return {values[0], has_mean ? values[1] : zero, has_variance ? values.back() : one, scale, bias,
          zero};
}

void add_activation_pass(PlanBuilder& plan, const RowsKernel& kernel, const Pass& pass) {
  RowsKernel rows = kernel;
  rows.output_type = DataType::Float32;
  rows.activation.reset();
  const std::size_t values = add_before_activation(plan, rows, pass.reads);
  plan.add(activation_kernel(*kernel.activation, kernel.shape.sizes, kernel.output_type), {values},
           pass.writes);
}

}  // namespace

void add_passes(PlanBuilder& plan, const RowsKernel& kernel, const Pass& pass) {
  if (kernel.activation) return add_activation_pass(plan, kernel, pass);
  std::size_t read = 0;
  const auto operand = [&](const ElementWiseInput& input) -> RowValue {
    const std::size_t slot = input.constant ? 0 : pass.reads.at(read++);
    return {slot, input.type, input.strides, input.constant};
  };
  std::vector<RowValue> operands{operand(kernel.input)};
  const RowValue scale = operand(kernel.scale), bias = operand(kernel.bias);
  const RowFormula formula = formula_of(kernel.operation);
  RowPlan rows(plan, kernel.shape);
  for (const auto& [what, reduction] : formula.values)
    operands.push_back(rows.reduced(what, reduction, operands));
  if (formula.expression == Expression::normalize)
    operands = normalized_operands(kernel.operation, operands, scale, bias);
  add_element_wise(plan, formula.expression, kernel.shape.sizes, operands, pass.writes.front(),
                   kernel.output_type, parameters({kernel.epsilon}));
}

std::optional<PackedRows> packed_rows(const RowsKernel& kernel) {
  const Sizes& sizes = kernel.shape.sizes;
  if (!is_packed(sizes, kernel.input.strides)) return {};
  PackedRows rows;
  std::uint64_t stride = 1;
  for (std::size_t a = sizes.size(); a-- > 0; stride *= sizes[a]) {
    if (!kernel.shape.is_reduced[a] || sizes[a] == 1) continue;
    if (rows.length == 1) rows.stride = stride;
    if (stride != rows.stride * rows.length) return {};
    rows.length *= sizes[a];
  }
  return rows;
}

}  // namespace dmlop
