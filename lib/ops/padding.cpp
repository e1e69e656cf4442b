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

// The shortest text that reads back as the FLOAT.
std::string number_text(double value) {
  std::array<char, 32> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
  return {text.data(), end};
}

// The number as it is written, before it becomes a FLOAT.
std::optional<double> written_number(const Field& field) {
  if (field.written == nullptr || field.written->kind != json::Value::Kind::number)
    return std::nullopt;
  const std::string& text = field.written->text;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? std::optional(number) : std::nullopt;
}

// A whole number with all its digits.
std::string whole_text(double number) {
  std::array<char, 48> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number,
                                          std::chars_format::fixed, 0);
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
                                         "PaddingValue is " + number_text(*value) +
                                             ", which does not fit " + std::string(name_of(*type)));
  diagnostic.rule = std::string(name_of(*type)) + " holds " + range_text(*type) +
                    "; PaddingValue is truncated toward zero";
  diagnostic.suggestion = "write a value from " + range_text(*type);
  if (const auto written = written_number(*description.find("PaddingValue"));
      written && converts_to(*type, *written)) {
    // FLOAT keeps 24 bits of a number, and has rounded this one out of the range.
    diagnostic.message = "PaddingValue is " + description.find("PaddingValue")->written->text +
                         ", which is " + whole_text(*value) + " as FLOAT and does not fit " +
                         std::string(name_of(*type));
    const float rounded = static_cast<float>(*value);
    diagnostic.suggestion =
        "write " + whole_text(double{std::nextafter(rounded, 0.0F)}) + ", the next FLOAT that fits";
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
