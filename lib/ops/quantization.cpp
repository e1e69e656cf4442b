// Quantization by a scale and a zero point: x / scale + zero point, rounded to nearest even and
// saturated; and back.
#include "ops/element_wise.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

Plan plan_linear(const Description& description, Expression expression) {
  PlanBuilder plan(description);
  const TensorDesc& output = description.tensor("OutputTensor");
  add_element_wise(plan, expression, output.sizes,
                   {operand(plan, description, "InputTensor"),
                    operand(plan, description, "ScaleTensor"),
                    operand_or(plan, description, "ZeroPointTensor", 0)},
                   plan.tensor("OutputTensor"), *output.data_type);
  return plan.take();
}

/// Sizes and strides of a tensor whose dimensions are each cut into as many blocks as another
/// tensor has elements there.
struct Blocks {
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> inner;   // strides of the tensor that is cut
  std::vector<std::uint64_t> blocks;  // of the other one, which repeats within a block

  Blocks(const TensorDesc& cut, const TensorDesc& by) {
    const Strides strides = input_strides(cut);
    const Strides by_strides = input_strides(by);
    for (std::size_t i = 0; i < cut.sizes.size(); ++i) {
      const std::uint64_t length = cut.sizes[i] / by.sizes[i];
      sizes.insert(sizes.end(), {by.sizes[i], length});
      inner.insert(inner.end(), {strides[i] * length, strides[i]});
      blocks.insert(blocks.end(), {by_strides[i], 0});
    }
  }
};

// Where no zero point is given, that of an unsigned type is in the middle of its range.
float middle_of(DataType type) {
  return type == DataType::UInt8 ? 128.0F : type == DataType::UInt4 ? 8.0F : 0.0F;
}

Plan plan_blocks(const Description& description, Expression expression, DataType quantized) {
  PlanBuilder plan(description);
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const TensorDesc& scale = *description.find_tensor("QuantizationTensors", 0);
  const TensorDesc* zero_point = description.find_tensor("QuantizationTensors", 1);
  const Blocks blocks(input, scale);
  std::vector<ElementWiseOperand> operands{
      {plan.tensor("InputTensor"), *input.data_type, blocks.inner},
      {plan.tensor("QuantizationTensors", 0), *scale.data_type, blocks.blocks}};
  if (zero_point != nullptr) {
    operands.push_back({plan.tensor("QuantizationTensors", 1), *zero_point->data_type,
                        Blocks(input, *zero_point).blocks});
  } else {
    operands.push_back({.constant = middle_of(quantized)});
  }
  add_element_wise(plan, expression, blocks.sizes, operands, plan.tensor("OutputTensor"),
                   *output.data_type);
  return plan.take();
}

}  // namespace

Plan plan_quantize_linear(const Description& description) {
  return plan_linear(description, Expression::quantize_linear);
}

Plan plan_dequantize_linear(const Description& description) {
  return plan_linear(description, Expression::dequantize_linear);
}

Plan plan_quantize(const Description& description) {
  return plan_blocks(description, Expression::quantize,
                     *description.tensor("OutputTensor").data_type);
}

Plan plan_dequantize(const Description& description) {
  return plan_blocks(description, Expression::dequantize_linear,
                     *description.tensor("InputTensor").data_type);
}

// The scales and zero points have one element each.
Plan plan_quantized_linear_add(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto everywhere = [&](std::string_view field) {
    ElementWiseOperand one = operand_or(plan, description, field, 0);
    one.strides.assign(output.sizes.size(), 0);
    return one;
  };
  add_element_wise(
      plan, Expression::quantized_add, output.sizes,
      {operand(plan, description, "ATensor"), everywhere("AScaleTensor"),
       everywhere("AZeroPointTensor"), operand(plan, description, "BTensor"),
       everywhere("BScaleTensor"), everywhere("BZeroPointTensor"), everywhere("OutputScaleTensor"),
       everywhere("OutputZeroPointTensor")},
      plan.tensor("OutputTensor"), *output.data_type);
  return plan.take();
}

}  // namespace dmlop
