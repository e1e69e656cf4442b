// DML_OPERATOR_RESAMPLE, 1, 2 and 3, and UPSAMPLE_2D: output o lies at coordinate
// (o - OutputPixelOffset) / Scale - InputPixelOffset of the input, and is the element nearest to it
// or a linear mix of its neighbors. RESAMPLE_GRAD and 1 go the other way: an element gets its
// share of every output that it was in. Their offsets are named from their own side, as DirectML
// has it: InputPixelOffset is the incoming gradient's, and OutputPixelOffset that of what was
// resampled.
#include <utility>

#include "ops/interpolation.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

float value_of(const Description& description, const char* field, std::size_t i, float otherwise) {
  const Field* found = description.find(field);
  if (found == nullptr) return otherwise;
  return static_cast<float>(std::get<std::vector<double>>(found->value)[i]);
}

// UPSAMPLE_2D scales the last two dimensions.
float scale_of(const Description& description, std::size_t i, std::size_t dimensions) {
  const Field* sizes = description.find("ScaleSize");
  if (sizes == nullptr) return value_of(description, "Scales", i, 1);
  const auto& scale = std::get<Size2d>(sizes->value);
  if (i + 1 == dimensions) return static_cast<float>(scale.width);
  return i + 2 == dimensions ? static_cast<float>(scale.height) : 1;
}

// Operators without RoundingDirection round to the nearest element but, as DirectML does, 8-bit
// integers down.
Sampling sampling_of(const Description& description, DataType type) {
  if (description.integer("InterpolationMode") != nearest_neighbor) return Sampling::linear;
  if (description.find("RoundingDirection") != nullptr) {
    constexpr std::int64_t decreasing = 1;  // DML_AXIS_DIRECTION_DECREASING
    return description.integer("RoundingDirection") == decreasing ? Sampling::floor
                                                                  : Sampling::ceiling;
  }
  return is_floating(type) ? Sampling::nearest : Sampling::floor;
}

bool is_antialiased(const Description& description) {
  return description.find("Antialiased") != nullptr && description.integer("Antialiased") != 0;
}

// An axis that stays as it is.
bool is_copied(const Interpolation& of, std::uint64_t inputs, std::uint64_t outputs) {
  return of.scale == 1 && of.input_offset == -of.output_offset && outputs <= inputs;
}

std::vector<WindowAxis> axes_of(const Description& description, const TensorDesc& input,
                                const TensorDesc& output, bool is_transposed) {
  const Strides strides = input_strides(input);
  const std::size_t dimensions = input.sizes.size();
  std::vector<WindowAxis> axes;
  for (std::size_t i = 0; i < dimensions; ++i) {
    WindowAxis axis{.input_extent = input.sizes[i],
                    .output_extent = output.sizes[i],
                    .input_stride = strides[i],
                    .is_transposed = is_transposed};
    Interpolation interpolation{
        .sampling = sampling_of(description, *input.data_type),
        .scale = scale_of(description, i, dimensions),
        .input_offset = value_of(description, "InputPixelOffsets", i, 0.5F),
        .output_offset = value_of(description, "OutputPixelOffsets", i, -0.5F),
        .is_antialiased = is_antialiased(description)};
    if (is_transposed) std::swap(interpolation.input_offset, interpolation.output_offset);
    const auto [inputs, outputs] = is_transposed ? std::pair(output.sizes[i], input.sizes[i])
                                                 : std::pair(input.sizes[i], output.sizes[i]);
    if (!is_copied(interpolation, inputs, outputs)) axis.reach = interpolation;
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace

Plan plan_resample(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  WindowKernel kernel{
      .data_type = *input.data_type,
      .axes = axes_of(description, input, description.tensor("OutputTensor"), false)};
  return single_pass(description, std::move(kernel), {"InputTensor"}, "OutputTensor");
}

Plan plan_resample_grad(const Description& description) {
  const TensorDesc& input = description.tensor("InputGradientTensor");
  WindowKernel kernel{
      .data_type = *input.data_type,
      .axes = axes_of(description, input, description.tensor("OutputGradientTensor"), true)};
  return single_pass(description, std::move(kernel), {"InputGradientTensor"},
                     "OutputGradientTensor");
}

}  // namespace dmlop
