// Element-wise computation: shaders/element_wise.hlsl.
#include "gpu/kernels/element_wise.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/element_wise.hlsli"

DMLOP_SPECIALIZATION(ElementWiseSpecialization, ELEMENT_WISE_SPECIALIZATION)

constexpr std::size_t inputs_most = 8;

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

// How the elements of a thread lie.
enum class ElementLayout : uint { anyhow = LAYOUT_ANYHOW, row = LAYOUT_ROW, line = LAYOUT_LINE };

ElementLayout layout_of(const ElementWiseKernel& kernel) {
  if (kernel.extents.back() % (bytes_per_thread / size_of(kernel.output_type)) == 0)
    return kernel.extents.size() > 1 ? ElementLayout::row : ElementLayout::line;
  return kernel.extents.size() > 1 ? ElementLayout::anyhow : ElementLayout::line;
}

// The type of an input, and how it is walked along the innermost axis.
uint type_of(const ElementWiseInput& input) {
  const std::uint64_t stride = input.strides.back();
  return any_type(input.type) | (stride == 0 ? IS_REPEATED : stride > 1 ? IS_STRIDED : 0U);
}

// Whether the elements of an input stand as those of the output do, so that a thread loads them as
// vectors.
bool is_vector(const ElementWiseKernel& kernel, const ElementWiseInput& input) {
  return layout_of(kernel) != ElementLayout::anyhow && is_packed(kernel, input) &&
         !has_64_bits(kernel.compute);
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

ElementWiseParameters parameters_of(const ElementWiseKernel& kernel) {
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
  for (std::size_t k = 0; k < kernel.inputs.size(); ++k) {
    const ElementWiseInput& input = kernel.inputs[k];
    parameters.constants[k] = input.constant.value_or(0);
    if (input.constant) continue;
    std::transform(input.strides.begin(), input.strides.end(), parameters.strides + k * axes_most,
                   word);
  }
  return parameters;
}

Dispatch expression_dispatch(const ElementWiseKernel& kernel) {
  const Row row = row_of(kernel.expression);
  const ExpressionInfo& about = info(kernel.expression);
  Dispatch dispatch;
  dispatch.kernel = "element_wise_" + std::to_string(row.group) + "_" + number_of(kernel.compute);
  std::array<uint, inputs_most> types{};
  const bool has_buffer = std::any_of(kernel.inputs.begin(), kernel.inputs.end(),
                                      [](const auto& input) { return !input.constant; });
  for (std::size_t k = 0, buffer = 0; k < inputs_most; ++k) {
    const bool is_buffer = k < kernel.inputs.size() && !kernel.inputs[k].constant;
    constexpr std::size_t vector_inputs = 3;
    const bool reads_vectors =
        is_buffer && k < vector_inputs && is_vector(kernel, kernel.inputs[k]);
    types[k] = (is_buffer ? type_of(kernel.inputs[k]) : 0) | (reads_vectors ? IS_VECTOR : 0);
    // In place of a constant, any buffer: so that the next input has its place.
    if (k < kernel.inputs.size() && has_buffer) dispatch.inputs.push_back(is_buffer ? buffer++ : 0);
  }
  static_assert(inputs_most == 8);
  set_specialization(dispatch,
                     ElementWiseSpecialization{.EXPRESSION_NUMBER = row.number,
                                               .NUMBER_CLASS = about.number_class,
                                               .STORE_MODE = about.store,
                                               .OUTPUT_TYPE = any_type(kernel.output_type),
                                               .LAYOUT = layout_of(kernel),
                                               .IS_SCALED = kernel.input_scale.has_value(),
                                               .INPUT_COUNT = kernel.inputs.size(),
                                               .TYPE_0 = types[0],
                                               .TYPE_1 = types[1],
                                               .TYPE_2 = types[2],
                                               .TYPE_3 = types[3],
                                               .TYPE_4 = types[4],
                                               .TYPE_5 = types[5],
                                               .TYPE_6 = types[6],
                                               .TYPE_7 = types[7]});
  set_parameters(dispatch, parameters_of(kernel));
  // Each element at worst begins a row, which has a loop over the axes.
  const std::uint64_t per_thread = bytes_per_thread / size_of(kernel.output_type);
  dispatch.stages.emplace_back(0, divided_up(kernel.output_elements(), per_thread),
                               per_thread * (element_work(kernel) + 2 + axes_most) + 8);
  return dispatch;
}

}  // namespace

std::optional<std::size_t> activation_number(Expression expression) {
  const auto found = std::find(group_4.begin(), group_4.end(), expression);
  if (found == group_4.end() || info(expression).inputs != 1) return {};
  return static_cast<std::size_t>(found - group_4.begin());
}

Dispatches dispatches_of(const ElementWiseKernel& kernel) {
  if (kernel.extents.size() > axes_most)
    return refused("it has more than 8 axes, where a dimension in blocks counts as two");
  if (kernel.expression == Expression::cast) return cast_dispatch(kernel);
  if (kernel.expression == Expression::pow_of_integers) return integer_power_dispatch(kernel);
  if (kernel.compute == ComputeType::float64)
    return refused("GPU kernels do not compute with FLOAT64");
  if (!has_loads(kernel)) return refused("GPU kernels do not compute this with 64 bits");
  if (has_64_bits(kernel.compute) && kernel.input_scale)
    return refused("GPU kernels do not scale integers of 64 bits");
  return expression_dispatch(kernel);
}

}  // namespace dmlop::gpu::kernels
