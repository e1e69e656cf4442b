// DML_OPERATOR_PADDING and DML_OPERATOR_PADDING1: an index map with a boundary on every axis.
#include <array>

#include "ops/field_values.hpp"
#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

// In the order of DML_PADDING_MODE.
constexpr std::array boundaries{Boundary::constant, Boundary::edge, Boundary::reflection,
                                Boundary::symmetric, Boundary::wrap};

constexpr std::int64_t constant_mode = 0;

}  // namespace

/// DirectML stores what its cast happens to give.
void check_padding_value(const Description& description, Diagnostics& diagnostics) {
  const auto* mode = std::get_if<std::int64_t>(&description.find("PaddingMode")->value);
  if (mode == nullptr || *mode != constant_mode) return;
  check_fits(description, "PaddingValue", description.tensor("InputTensor").data_type, diagnostics);
}

namespace {

Plan padded(const Description& description, const std::array<std::byte, 8>& fill) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto mode = static_cast<std::size_t>(description.integer("PaddingMode"));
  const auto& start = description.integers("StartPadding");
  const Strides strides = input_strides(input);

  IndexMapKernel kernel{.element_size = size_of(*input.data_type), .fill = fill};
  for (std::size_t i = 0; i < output.sizes.size(); ++i) {
    kernel.axes.push_back({.extent = output.sizes[i],
                           .stride = static_cast<std::int64_t>(strides[i]),
                           .boundary = boundaries[mode],
                           .start_padding = start[i],
                           .input_extent = input.sizes[i]});
  }
  return single_pass(description, simplified(std::move(kernel)), {"InputTensor"}, "OutputTensor");
}

bool fills_with_constant(const Description& description) {
  return description.integer("PaddingMode") == constant_mode;
}

}  // namespace

Plan plan_padding(const Description& description) {
  if (!fills_with_constant(description)) return padded(description, {});
  const auto type = *description.tensor("InputTensor").data_type;
  return padded(description, element_from(type, description.number("PaddingValue", 0)));
}

Plan plan_padding1(const Description& description) {
  if (!fills_with_constant(description)) return padded(description, {});
  return padded(description, scalar(description, "PaddingValue"));
}

}  // namespace dmlop
