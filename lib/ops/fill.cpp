// Operators that make their output up: FILL_VALUE_CONSTANT, FILL_VALUE_SEQUENCE, DIAGONAL_MATRIX
// and DIAGONAL_MATRIX1.
#include <algorithm>

#include "ops/field_values.hpp"
#include "ops/operator.hpp"
#include "tensor/element.hpp"
#include "tensor/layout.hpp"

namespace dmlop {
namespace {

SequenceKernel constant(const Description& description, const char* start) {
  const TensorDesc& output = description.tensor("OutputTensor");
  return {.data_type = *output.data_type,
          .start = scalar(description, start),
          .elements = element_count(output.sizes).value_or(0)};
}

// Diagonals [begin, end) or, where the end comes first, all but [end, begin).
BandKernel band(const TensorDesc& output, const TensorDesc* input, std::int64_t begin,
                std::int64_t end) {
  const Sizes& sizes = output.sizes;
  StridedAxes axes = strided_axes(sizes, {input ? input_strides(*input) : Strides(sizes.size())});
  const StridedAxis columns = axes.back();
  axes.pop_back();
  return {.element_size = size_of(*output.data_type),
          .has_input = input != nullptr,
          .lines = merged(axes),
          .rows = sizes[sizes.size() - 2],
          .columns = columns,
          .begin = std::min(begin, end),
          .end = std::max(begin, end),
          .is_inverted = end < begin};
}

}  // namespace

Plan plan_fill_value_constant(const Description& description) {
  return single_pass(description, constant(description, "Value"), {}, "OutputTensor");
}

Plan plan_fill_value_sequence(const Description& description) {
  SequenceKernel kernel = constant(description, "ValueStart");
  kernel.delta = scalar(description, "ValueDelta");
  return single_pass(description, kernel, {}, "OutputTensor");
}

/// DirectML stores what its cast happens to give.
void check_diagonal_value(const Description& description, Diagnostics& diagnostics) {
  check_fits(description, "Value", description.tensor("OutputTensor").data_type, diagnostics);
}

Plan plan_diagonal_matrix(const Description& description) {
  const TensorDesc& output = description.tensor("OutputTensor");
  const std::int64_t offset = description.integer("Offset");
  BandKernel kernel = band(output, nullptr, offset, offset + 1);
  kernel.value = element_from(*output.data_type, description.number("Value", 0));
  return single_pass(description, std::move(kernel), {}, "OutputTensor");
}

Plan plan_diagonal_matrix1(const Description& description) {
  const TensorDesc* input = description.find_tensor("InputTensor");
  BandKernel kernel =
      band(description.tensor("OutputTensor"), input, description.integer("DiagonalFillBegin"),
           description.integer("DiagonalFillEnd"));
  kernel.value = scalar(description, "Value");
  if (input == nullptr) return single_pass(description, std::move(kernel), {}, "OutputTensor");
  return single_pass(description, std::move(kernel), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
