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
BandKernel band(const TensorDesc& output, std::int64_t begin, std::int64_t end) {
  BandKernel kernel{.element_size = size_of(*output.data_type),
                    .begin = std::min(begin, end),
                    .end = std::max(begin, end),
                    .is_inverted = end < begin};
  for (const std::uint64_t size : output.sizes) kernel.axes.push_back({size, 0});
  return kernel;
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
  BandKernel kernel = band(output, offset, offset + 1);
  kernel.value = element_from(*output.data_type, description.number("Value", 0));
  return single_pass(description, std::move(kernel), {}, "OutputTensor");
}

Plan plan_diagonal_matrix1(const Description& description) {
  BandKernel kernel =
      band(description.tensor("OutputTensor"), description.integer("DiagonalFillBegin"),
           description.integer("DiagonalFillEnd"));
  kernel.value = scalar(description, "Value");
  const TensorDesc* input = description.find_tensor("InputTensor");
  if (input == nullptr) return single_pass(description, std::move(kernel), {}, "OutputTensor");
  const Strides strides = input_strides(*input);
  for (std::size_t i = 0; i < strides.size(); ++i) kernel.axes[i].stride = strides[i];
  // One axis has a stride, even if the input is a single element.
  kernel.axes.insert(kernel.axes.begin(), {1, 1});
  return single_pass(description, std::move(kernel), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
