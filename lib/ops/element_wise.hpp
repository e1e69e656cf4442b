// The planner of element-wise operators, and of element-wise passes of others.
#pragma once

#include <string_view>
#include <vector>

#include "ops/plan.hpp"

namespace dmlop {

/// An input of an element-wise pass: a slot with its type and strides along the output's sizes, or
/// a number.
struct ElementWiseOperand {
  std::size_t slot = 0;
  DataType type = DataType::Float32;
  std::vector<std::uint64_t> strides = {};
  std::optional<float> constant = {};
};

/// The slots of those that are tensors.
std::vector<std::size_t> slots_read(const std::vector<ElementWiseOperand>& operands);

/// The kernel of an expression over operands, for an output of these sizes; its axes are merged.
ElementWiseKernel element_wise(Expression expression, const std::vector<std::uint64_t>& sizes,
                               const std::vector<ElementWiseOperand>& operands,
                               DataType output_type, std::array<Parameter, 4> parameters = {});

/// The same kernel with merged axes.
ElementWiseKernel merged(ElementWiseKernel kernel);

/// A kernel as element_wise() makes it, added to a plan.
void add_element_wise(PlanBuilder& plan, Expression expression,
                      const std::vector<std::uint64_t>& sizes,
                      const std::vector<ElementWiseOperand>& operands, std::size_t output,
                      DataType output_type, std::array<Parameter, 4> parameters = {});

/// A tensor of the description as an operand.
ElementWiseOperand operand(PlanBuilder& plan, const Description& description,
                           std::string_view field);

/// The same, or a number where an optional tensor is left out.
ElementWiseOperand operand_or(PlanBuilder& plan, const Description& description,
                              std::string_view field, float otherwise);

/// The parameters of the fields of an operator or of an activation: FLOAT fields and scalar unions
/// in their order. As integers they are truncated toward zero and saturated to `type`.
std::array<Parameter, 4> parameters_of(const FieldSet& fields, DataType type);

/// The ScaleBias of an operator or of an activation; nothing where there is none.
std::optional<InputScale> input_scale_of(const FieldSet& fields);

/// The expression of an operator or activation named without DML_OPERATOR_; nothing for those that
/// are no row of element_wise.def.
std::optional<Expression> element_wise_expression(std::string_view operator_name);

/// The plan of an operator of element_wise.def: its input tensors in the order of its fields.
Plan plan_element_wise(const Description& description);

}  // namespace dmlop
