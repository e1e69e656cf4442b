// DML_OPERATOR_GEMM: Alpha * A x B + Beta * C. MATRIX_MULTIPLY_INTEGER: (A - zero point) x (B -
// zero point). MATRIX_MULTIPLY_INTEGER_TO_FLOAT: the same times the scales of A and B, plus a bias.
// QUANTIZED_LINEAR_MATRIX_MULTIPLY: the same, quantized.
#include <algorithm>
#include <initializer_list>
#include <utility>

#include "ops/activation.hpp"
#include "ops/operator.hpp"
#include "ops/products.hpp"

namespace dmlop {

std::uint64_t only_stride(const TensorDesc& tensor) {
  const Strides strides = input_strides(tensor);
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (tensor.sizes[i] > 1) return strides[i];
  }
  return 0;
}

ProductInput row_input(const TensorDesc& tensor, std::size_t batch_axes) {
  return {.data_type = *tensor.data_type,
          .batch_strides = Strides(batch_axes, 0),
          .row_stride = only_stride(tensor)};
}

ProductInput column_input(const TensorDesc& tensor, std::size_t batch_axes) {
  return {.data_type = *tensor.data_type,
          .batch_strides = Strides(batch_axes, 0),
          .column_stride = only_stride(tensor)};
}

ProductInput matrix_input(const TensorDesc& tensor) {
  Strides strides = input_strides(tensor);
  const std::uint64_t column = strides.back(), row = strides[strides.size() - 2];
  strides.resize(strides.size() - 2);
  return {.data_type = *tensor.data_type,
          .batch_strides = std::move(strides),
          .row_stride = row,
          .column_stride = column};
}

ProductKernel matrix_product(const TensorDesc& left, bool transposes_left, const TensorDesc& right,
                             bool transposes_right, DataType output_type) {
  const std::size_t batch_axes = left.sizes.size() - 2;
  const auto axis = [&](bool is_last) { return batch_axes + (is_last ? 1 : 0); };
  ProductKernel kernel{.output_type = output_type,
                       .batches = {left.sizes.begin(), left.sizes.end() - 2},
                       .rows = left.sizes[axis(transposes_left)],
                       .columns = right.sizes[axis(!transposes_right)],
                       .left = matrix_input(left),
                       .right = matrix_input(right),
                       .depth = left.sizes[axis(!transposes_left)]};
  kernel.left_depth_stride = kernel.left.column_stride;
  if (transposes_left) std::swap(kernel.left_depth_stride, kernel.left.row_stride);
  kernel.right_depth_stride = kernel.right.row_stride;
  if (transposes_right) std::swap(kernel.right_depth_stride, kernel.right.column_stride);
  return kernel;
}

namespace {

using InputPointers = std::vector<ProductInput*>;

InputPointers present(std::initializer_list<std::optional<ProductInput>*> inputs) {
  InputPointers pointers;
  for (auto* input : inputs) {
    if (*input) pointers.push_back(&**input);
  }
  return pointers;
}

/// The inputs that a row has, and those that all rows share.
std::pair<InputPointers, InputPointers> inputs_of(ProductKernel& kernel) {
  InputPointers by_row = present({&kernel.left_zero, &kernel.left_scale, &kernel.added});
  by_row.push_back(&kernel.left);
  if (kernel.quantization) {
    by_row.push_back(&kernel.quantization->scale);
    if (kernel.quantization->zero_point) by_row.push_back(&*kernel.quantization->zero_point);
  }
  InputPointers shared = present({&kernel.right_zero, &kernel.right_scale});
  shared.push_back(&kernel.right);
  return {by_row, shared};
}

Strides with_last(Strides strides, std::uint64_t last) {
  strides.push_back(last);
  return strides;
}

}  // namespace

ProductKernel simplified(ProductKernel kernel) {
  const auto [by_row, shared] = inputs_of(kernel);
  // The rows are an axis inside of the batches.
  std::vector<Strides> strides;
  for (const ProductInput* input : by_row)
    strides.push_back(with_last(input->batch_strides, input->row_stride));
  for (const ProductInput* input : shared) strides.push_back(with_last(input->batch_strides, 0));
  StridedAxes axes = merged(strided_axes(with_last(kernel.batches, kernel.rows), strides));
  const StridedAxis last = axes.back();
  const auto first_shared = last.strides.begin() + static_cast<std::ptrdiff_t>(by_row.size());
  if (std::all_of(first_shared, last.strides.end(), [](auto stride) { return stride == 0; })) {
    axes.pop_back();
    kernel.rows = last.extent;
    for (std::size_t k = 0; k < by_row.size() && kernel.rows > 1; ++k)
      by_row[k]->row_stride = last.strides[k];
  }
  kernel.batches = extents_of(axes);
  std::size_t next = 0;
  for (const InputPointers& inputs : {by_row, shared}) {
    for (ProductInput* input : inputs) input->batch_strides = strides_of(axes, next++);
  }
  return kernel;
}

Plan plan_gemm(const Description& description) {
  PlanBuilder plan(description);
  const auto transposes = [&](const char* field) {
    constexpr std::int64_t transpose = 1;  // DML_MATRIX_TRANSFORM_TRANSPOSE
    return description.integer(field) == transpose;
  };
  std::vector<std::size_t> reads{plan.tensor("ATensor"), plan.tensor("BTensor")};
  const auto added = optional_input(plan, description, "CTensor", reads,
                                    [](const TensorDesc& c) { return matrix_input(c); });
  const auto make = [&](DataType written) {
    ProductKernel kernel =
        matrix_product(description.tensor("ATensor"), transposes("TransA"),
                       description.tensor("BTensor"), transposes("TransB"), written);
    kernel.factor = description.number("Alpha", 1);
    kernel.added = added;
    kernel.added_factor = description.number("Beta", 0);
    return simplified(std::move(kernel));
  };
  add_with_activation(plan, description, "OutputTensor", make, reads);
  return plan.take();
}

namespace {

/// The product of A and B less their zero points, times their scales if they have any.
ProductKernel quantized_product(PlanBuilder& plan, const Description& description,
                                std::vector<std::size_t>& reads) {
  const TensorDesc& a = description.tensor("ATensor");
  ProductKernel kernel = matrix_product(a, false, description.tensor("BTensor"), false,
                                        *description.tensor("OutputTensor").data_type);
  const std::size_t batch_axes = kernel.batches.size();
  const auto by_row = [&](const TensorDesc& tensor) { return row_input(tensor, batch_axes); };
  const auto by_column = [&](const TensorDesc& tensor) { return column_input(tensor, batch_axes); };
  reads = {plan.tensor("ATensor"), plan.tensor("BTensor")};
  kernel.left_zero = optional_input(plan, description, "AZeroPointTensor", reads, by_row);
  kernel.right_zero = optional_input(plan, description, "BZeroPointTensor", reads, by_column);
  kernel.left_scale = optional_input(plan, description, "AScaleTensor", reads, by_row);
  kernel.right_scale = optional_input(plan, description, "BScaleTensor", reads, by_column);
  return kernel;
}

}  // namespace

Plan plan_matrix_multiply_integer(const Description& description) {
  PlanBuilder plan(description);
  std::vector<std::size_t> reads;
  ProductKernel kernel = quantized_product(plan, description, reads);
  plan.add(simplified(std::move(kernel)), reads, {plan.tensor("OutputTensor")});
  return plan.take();
}

Plan plan_matrix_multiply_integer_to_float(const Description& description) {
  PlanBuilder plan(description);
  std::vector<std::size_t> reads;
  ProductKernel kernel = quantized_product(plan, description, reads);
  kernel.added = optional_input(plan, description, "BiasTensor", reads, matrix_input);
  plan.add(simplified(std::move(kernel)), reads, {plan.tensor("OutputTensor")});
  return plan.take();
}

Plan plan_quantized_linear_matrix_multiply(const Description& description) {
  PlanBuilder plan(description);
  std::vector<std::size_t> reads;
  ProductKernel kernel = quantized_product(plan, description, reads);
  const auto by_row = [&](const TensorDesc& tensor) {
    return row_input(tensor, kernel.batches.size());
  };
  kernel.quantization = ProductQuantization{
      *optional_input(plan, description, "OutputScaleTensor", reads, by_row),
      optional_input(plan, description, "OutputZeroPointTensor", reads, by_row)};
  plan.add(simplified(std::move(kernel)), reads, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
