// Element-wise computation: shaders/element_wise.hlsl.
#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "gpu/resident/element_wise.hpp"
#include "gpu/resident/kinds.hpp"
#include "gpu/resident/parameters.hpp"

namespace dmlop::gpu::resident {
namespace {

#include "../../../shaders/parameters/element_wise.hlsli"

constexpr std::uint32_t is_repeated = 32;  // as in the kernel

// The groups of shaders/expressions.def.
#define EXPRESSION(name, inputs, class, store, expression) Expression::name,
constexpr std::array group_1{
#undef EXPRESSION_GROUP
#define EXPRESSION_GROUP 1
#include "../../../shaders/expressions.def"
#undef EXPRESSION_GROUP
};
constexpr std::array group_2{
#define EXPRESSION_GROUP 2
#include "../../../shaders/expressions.def"
#undef EXPRESSION_GROUP
};
constexpr std::array group_3{
#define EXPRESSION_GROUP 3
#include "../../../shaders/expressions.def"
#undef EXPRESSION_GROUP
};
constexpr std::array group_4{
#define EXPRESSION_GROUP 4
#include "../../../shaders/expressions.def"
#undef EXPRESSION_GROUP
};
constexpr std::array group_5{
#define EXPRESSION_GROUP 5
#include "../../../shaders/expressions.def"
#undef EXPRESSION_GROUP
};
#undef EXPRESSION

/// Where an expression stands in the table.
struct Row {
  std::size_t group;   // from 1 on
  std::size_t number;  // in the group
};
Row row_of(Expression expression) {
  const std::array<std::span<const Expression>, 5> groups{group_1, group_2, group_3, group_4,
                                                          group_5};
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const auto found = std::find(groups[group].begin(), groups[group].end(), expression);
    if (found != groups[group].end())
      return {group + 1, static_cast<std::size_t>(found - groups[group].begin())};
  }
  throw std::logic_error("an expression is in no group");
}

// What HLSL computes with; "" for doubles.
std::string number_of(ComputeType type) {
  switch (type) {
    case ComputeType::float32:
      return "float";
    case ComputeType::int32:
      return "int";
    case ComputeType::uint32:
      return "uint";
    case ComputeType::int64:
      return "int2";
    case ComputeType::uint64:
      return "uint2";
    case ComputeType::float64:
      break;
  }
  return "";
}

bool has_64_bits(ComputeType type) {
  return type == ComputeType::int64 || type == ComputeType::uint64;
}

bool is_repeated_everywhere(const ElementWiseInput& input) {
  return std::all_of(input.strides.begin(), input.strides.end(),
                     [](std::uint64_t stride) { return stride == 0; });
}

bool is_linear(const ElementWiseKernel& kernel) {
  return std::all_of(kernel.inputs.begin(), kernel.inputs.end(), [&](const auto& input) {
    return input.constant || is_repeated_everywhere(input) || is_packed(kernel, input);
  });
}

// Whether a kernel can load and store all types.
bool has_loads(const ElementWiseKernel& kernel) {
  const auto is_loaded = [&](const ElementWiseInput& input) {
    return input.constant ? !has_64_bits(kernel.compute)
                          : size_of(input.type) <= 4 || has_64_bits(kernel.compute);
  };
  return std::all_of(kernel.inputs.begin(), kernel.inputs.end(), is_loaded) &&
         (size_of(kernel.output_type) <= 4 || has_64_bits(kernel.compute));
}

// Iterations of the loop of a division of 64 bits, which most expressions do without.
std::uint64_t element_work(const ElementWiseKernel& kernel) {
  return has_64_bits(kernel.compute) ? 66 : 1;
}

}  // namespace

bool is_packed(const ElementWiseKernel& kernel, const ElementWiseInput& input) {
  std::uint64_t stride = 1;
  for (std::size_t a = kernel.extents.size(); a-- > 0;) {
    if (kernel.extents[a] > 1 && input.strides[a] != stride) return false;
    stride *= kernel.extents[a];
  }
  return true;
}

std::string refusal_of(const ElementWiseKernel& kernel) {
  if (kernel.extents.size() > axes_most) return "it has more than 8 dimensions";
  if (kernel.expression == Expression::cast) return "";
  if (kernel.compute == ComputeType::float64) return "GPU kernels do not compute with FLOAT64";
  if (!has_loads(kernel)) return "GPU kernels do not compute this with 64 bits";
  if (has_64_bits(kernel.compute) && kernel.input_scale)
    return "GPU kernels do not scale integers of 64 bits";
  return "";
}

std::vector<ResidentDispatch> dispatches_of(const ElementWiseKernel& kernel) {
  if (kernel.expression == Expression::cast) return {cast_dispatch(kernel)};
  const Row row = row_of(kernel.expression);
  const ExpressionInfo& about = info(kernel.expression);
  const bool linear = is_linear(kernel);
  ElementWiseParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  parameters.rank = word(kernel.extents.size());
  std::transform(kernel.extents.begin(), kernel.extents.end(), parameters.extents, word);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    parameters.reals[i] = static_cast<float>(kernel.parameters[i].real);
    parameters.integers[2 * i] = static_cast<uint>(kernel.parameters[i].integer);
    parameters.integers[2 * i + 1] = static_cast<uint>(kernel.parameters[i].integer >> 32);
  }
  if (kernel.input_scale) {
    parameters.scale = kernel.input_scale->scale;
    parameters.bias = kernel.input_scale->bias;
  }
  ResidentDispatch dispatch;
  dispatch.kernel =
      "element_wise_" + std::to_string(row.group) + "_" + number_of(kernel.compute);
  dispatch.specialization = {word(row.number),
                             static_cast<uint>(about.number_class),
                             static_cast<uint>(about.store),
                             static_cast<uint>(kernel.output_type),
                             linear ? 1U : 0U,
                             kernel.input_scale ? 1U : 0U,
                             word(kernel.inputs.size())};
  const bool has_buffer = std::any_of(kernel.inputs.begin(), kernel.inputs.end(),
                                      [](const auto& input) { return !input.constant; });
  std::array<uint, 8> types{};
  for (std::size_t k = 0, buffer = 0; k < kernel.inputs.size(); ++k) {
    const ElementWiseInput& input = kernel.inputs[k];
    if (input.constant) {
      parameters.constants[k] = *input.constant;
      if (has_buffer) dispatch.inputs.push_back(0);  // so that the next input has its place
      continue;
    }
    types[k] = static_cast<uint>(input.type);
    if (linear && is_repeated_everywhere(input)) types[k] |= is_repeated;
    std::transform(input.strides.begin(), input.strides.end(), parameters.strides + k * axes_most,
                   word);
    dispatch.inputs.push_back(buffer++);
  }
  dispatch.specialization.insert(dispatch.specialization.end(), types.begin(), types.end());
  set_parameters(dispatch, parameters);
  // Each element at worst begins a row, which has a loop over the axes.
  const std::uint64_t per_thread = bytes_per_thread / size_of(kernel.output_type);
  dispatch.stages.emplace_back(0, divided_up(kernel.output_elements(), per_thread),
                               per_thread * (element_work(kernel) + 2 + axes_most) + 8);
  return {dispatch};
}

}  // namespace dmlop::gpu::resident
