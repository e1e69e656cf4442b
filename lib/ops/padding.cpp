// DML_OPERATOR_PADDING: an index map with a boundary on every axis.
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "tensor/element.hpp"

namespace dmlop {
namespace {

// In the order of DML_PADDING_MODE.
constexpr std::array boundaries{Boundary::constant, Boundary::edge, Boundary::reflection,
                                Boundary::symmetric, Boundary::wrap};

constexpr std::int64_t constant_mode = 0;

// A whole number with all its digits.
std::string whole_text(double number) {
  std::array<char, 48> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, 0);
  return {text.data(), end};
}

}  // namespace

/// PaddingValue, truncated toward zero, must fit an integer tensor's type. (DirectML stores what
/// its cast happens to give.)
void check_padding_value(const Description& description, Diagnostics& diagnostics) {
  const Field& mode = *description.find("PaddingMode");
  const auto* mode_value = std::get_if<std::int64_t>(&mode.value);
  const auto* value = std::get_if<double>(&description.find("PaddingValue")->value);
  const auto type = description.tensor("InputTensor").data_type;
  if (mode_value == nullptr || *mode_value != constant_mode || value == nullptr || !type) return;
  if (converts_to(*type, *value)) return;
  Diagnostic diagnostic = description.at({"PaddingValue", ""}, std::nullopt,
                                         "PaddingValue is " + float_text(*value) +
                                             ", which does not fit " + std::string(name_of(*type)));
  diagnostic.rule = std::string(name_of(*type)) + " holds " + range_text(*type) +
                    "; PaddingValue is truncated toward zero";
  diagnostic.suggestion = "write a value from " + range_text(*type);
  // FLOAT keeps 24 bits of a number, and may have rounded this one out of the range.
  const double below = double{std::nextafter(static_cast<float>(*value), 0.0F)};
  const json::Value* written = description.find("PaddingValue")->written;
  if (written != nullptr && converts_to(*type, below) && written->text != whole_text(*value)) {
    diagnostic.message = "PaddingValue is " + written->text + ", which is " + whole_text(*value) +
                         " as FLOAT and does not fit " + std::string(name_of(*type));
    diagnostic.suggestion = "write " + whole_text(below) + ", the next FLOAT that fits";
  }
  diagnostics.push_back(std::move(diagnostic));
}

Plan plan_padding(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto mode = static_cast<std::size_t>(description.integer("PaddingMode"));
  const auto& start = description.integers("StartPadding");
  const Strides strides = input_strides(input);

  IndexMapKernel kernel{.element_size = size_of(*input.data_type)};
  for (std::size_t i = 0; i < output.sizes.size(); ++i) {
    kernel.axes.push_back({.extent = output.sizes[i],
                           .stride = static_cast<std::int64_t>(strides[i]),
                           .boundary = boundaries[mode],
                           .start_padding = start[i],
                           .input_extent = input.sizes[i]});
  }
  if (boundaries[mode] == Boundary::constant) {
    kernel.fill = element_from(*input.data_type, description.number("PaddingValue", 0));
  }
  return single_pass(description, simplified(std::move(kernel)), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
