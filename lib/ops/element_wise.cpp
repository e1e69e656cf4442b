#include "ops/element_wise.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/activation.hpp"
#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "tensor/half.hpp"

namespace dmlop {
namespace {

constexpr std::array expressions{
#define EXPRESSION(name, inputs, class, store, expression) \
  ExpressionInfo{#name, inputs, NumberClass::class, StoreMode::store},
// The name "class" of a macro's parameter is only text here.
#include "../../shaders/expressions.def"
#undef EXPRESSION
    ExpressionInfo{"cast", 1, NumberClass::number, StoreMode::wraps}};

struct ElementWiseOperator {
  std::string_view name;
  Expression expression;
};
constexpr std::array element_wise_operators{
#define DMLOP_ELEMENT_WISE(name, expression) ElementWiseOperator{#name, Expression::expression},
#include "ops/element_wise.def"
#undef DMLOP_ELEMENT_WISE
};

ComputeType integer_type(DataType type) {
  const bool is_signed = is_signed_integer(type);
  if (size_of(type) == 8) return is_signed ? ComputeType::int64 : ComputeType::uint64;
  return is_signed ? ComputeType::int32 : ComputeType::uint32;
}

ComputeType compute_type(Expression expression, const std::vector<ElementWiseInput>& inputs) {
  switch (info(expression).number_class) {
    case NumberClass::real:
      return ComputeType::float32;
    case NumberClass::wide:
      return ComputeType::float64;
    case NumberClass::truth:
      return ComputeType::uint32;
    case NumberClass::bits: {
      const auto is_long = [](const ElementWiseInput& input) { return size_of(input.type) == 8; };
      const bool any = std::any_of(inputs.begin(), inputs.end(), is_long);
      return any ? ComputeType::uint64 : ComputeType::uint32;
    }
    case NumberClass::number:
      break;
  }
  const DataType type = inputs.front().type;
  if (type == DataType::Float64) return ComputeType::float64;
  return is_floating(type) ? ComputeType::float32 : integer_type(type);
}

// Truncated toward zero and saturated to the type; NaN is 0.
std::uint64_t integer_of(double value, DataType type) {
  if (is_floating(type) || std::isnan(value)) return 0;
  const int bits = static_cast<int>(info(type).bits);
  const double whole = std::trunc(value);
  if (!is_signed_integer(type)) {
    const std::uint64_t largest = ~std::uint64_t{0} >> (64 - bits);
    if (whole <= 0) return 0;
    return whole >= std::ldexp(1.0, bits) ? largest : static_cast<std::uint64_t>(whole);
  }
  const std::int64_t largest = static_cast<std::int64_t>(~std::uint64_t{0} >> (65 - bits));
  const double limit = std::ldexp(1.0, bits - 1);
  const std::int64_t clamped = whole >= limit    ? largest
                               : whole <= -limit ? -largest - 1
                                                 : static_cast<std::int64_t>(whole);
  return static_cast<std::uint64_t>(clamped);
}

// The bits of a scalar union as an integer of 64 bits with its sign, where it is one.
std::uint64_t extended(const Scalar& scalar) {
  const auto shift = static_cast<int>(64 - info(*scalar.type).bits);
  if (is_signed_integer(*scalar.type))
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(scalar.bits << shift) >> shift);
  return scalar.bits << shift >> shift;
}

Parameter parameter_of(const Field& field, DataType type) {
  if (const auto* number = std::get_if<double>(&field.value))
    return {static_cast<double>(static_cast<float>(*number)), integer_of(*number, type)};
  if (const auto* scalar = std::get_if<Scalar>(&field.value)) {
    const bool is_integer = !is_floating(*scalar->type);
    return {scalar->approximate,
            is_integer ? extended(*scalar) : integer_of(scalar->approximate, type)};
  }
  return {};
}

const FieldSpec& output_field(const Description& description) {
  const auto& fields = description.spec->fields;
  return *std::find_if(fields.begin(), fields.end(),
                       [](const FieldSpec& field) { return field.is_output(); });
}

// An integer power has rules of its own.
Expression expression_for(const Description& description, Expression row) {
  if (row != Expression::pow) return row;
  const DataType type = *description.tensor("InputTensor").data_type;
  return is_floating(type) ? row : Expression::pow_of_integers;
}

}  // namespace

const ExpressionInfo& info(Expression expression) {
  return expressions[static_cast<std::size_t>(expression)];
}

std::vector<std::size_t> slots_read(const std::vector<ElementWiseOperand>& operands) {
  std::vector<std::size_t> slots;
  for (const ElementWiseOperand& one : operands) {
    if (!one.constant) slots.push_back(one.slot);
  }
  return slots;
}

ElementWiseKernel element_wise(Expression expression, const std::vector<std::uint64_t>& sizes,
                               const std::vector<ElementWiseOperand>& operands,
                               DataType output_type, std::array<Parameter, 4> parameters) {
  ElementWiseKernel kernel{.expression = expression,
                           .extents = sizes,
                           .output_type = output_type,
                           .parameters = parameters};
  for (const ElementWiseOperand& one : operands) {
    ElementWiseInput input{one.type, one.strides, one.constant};
    if (one.constant) input.strides.assign(sizes.size(), 0);
    kernel.inputs.push_back(std::move(input));
  }
  kernel.compute = compute_type(expression, kernel.inputs);
  return merged(std::move(kernel));
}

ElementWiseKernel merged(ElementWiseKernel kernel) {
  std::vector<Strides> strides;
  for (const ElementWiseInput& input : kernel.inputs) strides.push_back(input.strides);
  const StridedAxes axes = merged(strided_axes(kernel.extents, strides));
  kernel.extents = extents_of(axes);
  for (std::size_t k = 0; k < strides.size(); ++k) kernel.inputs[k].strides = strides_of(axes, k);
  return kernel;
}

void add_element_wise(PlanBuilder& plan, Expression expression,
                      const std::vector<std::uint64_t>& sizes,
                      const std::vector<ElementWiseOperand>& operands, std::size_t output,
                      DataType output_type, std::array<Parameter, 4> parameters) {
  plan.add(element_wise(expression, sizes, operands, output_type, parameters), slots_read(operands),
           {output});
}

ElementWiseOperand operand(PlanBuilder& plan, const Description& description,
                           std::string_view field) {
  const TensorDesc& desc = description.tensor(field);
  return {plan.tensor(field), *desc.data_type, input_strides(desc)};
}

ElementWiseOperand operand_or(PlanBuilder& plan, const Description& description,
                              std::string_view field, float otherwise) {
  if (description.find_tensor(field) != nullptr) return operand(plan, description, field);
  return {.constant = otherwise};
}

std::array<Parameter, 4> parameters_of(const FieldSet& fields, DataType type) {
  std::array<Parameter, 4> parameters{};
  std::size_t count = 0;
  for (const Field& field : fields.fields) {
    const FieldKind kind = field.spec->kind;
    if (kind == FieldKind::float32 || kind == FieldKind::scalar_union)
      parameters.at(count++) = parameter_of(field, type);
  }
  return parameters;
}

std::optional<InputScale> input_scale_of(const FieldSet& fields) {
  for (const Field& field : fields.fields) {
    const auto* both = std::get_if<ScaleBias>(&field.value);
    if (both != nullptr)
      return InputScale{static_cast<float>(both->scale), static_cast<float>(both->bias)};
  }
  return std::nullopt;
}

std::optional<Expression> element_wise_expression(std::string_view operator_name) {
  for (const ElementWiseOperator& row : element_wise_operators) {
    if (row.name == operator_name) return row.expression;
  }
  return std::nullopt;
}

Plan plan_element_wise(const Description& description) {
  PlanBuilder plan(description);
  const Expression expression =
      expression_for(description, *element_wise_expression(description.spec->name));
  const FieldSpec& output = output_field(description);
  const TensorDesc& output_desc = description.tensor(output.name);
  std::vector<ElementWiseOperand> operands;
  std::vector<std::size_t> reads;
  for (const FieldSpec& field : description.spec->fields) {
    if (!field.is_input()) continue;
    operands.push_back(operand(plan, description, field.name));
    reads.push_back(operands.back().slot);
  }
  const std::optional<InputScale> scale = input_scale_of(description);
  if (expression == Expression::identity && !scale)
    return single_pass(description, packed_copy(description.tensor("InputTensor")), {"InputTensor"},
                       output.name);
  const auto make = [&](DataType written) -> Kernel {
    ElementWiseKernel kernel = element_wise(expression, output_desc.sizes, operands, written,
                                            parameters_of(description, operands.front().type));
    kernel.input_scale = scale;
    return kernel;
  };
  add_with_activation(plan, description, output.name, make, reads);
  return plan.take();
}

}  // namespace dmlop
