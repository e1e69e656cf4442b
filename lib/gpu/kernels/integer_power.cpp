// Powers of integers: shaders/integer_power.hlsl.
#include "gpu/kernels/element_wise.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/integer_power.hlsli"

DMLOP_SPECIALIZATION(IntegerPowerSpecialization, INTEGER_POWER_SPECIALIZATION)

// Iterations for an element: the digits of its logarithm and of the base, of the exponent or
// factors, and the words of a shift.
constexpr std::uint64_t power_work = 64 + 32 + 32 + 8;

}  // namespace

Dispatch integer_power_dispatch(const ElementWiseKernel& kernel) {
  const StridedAxes axes =
      strided_axes(kernel.extents, {kernel.inputs[0].strides, kernel.inputs[1].strides});
  const InputScale scale = kernel.input_scale.value_or(InputScale{});
  const IntegerPowerParameters parameters{.elements = word(kernel.output_elements()),
                                          .scale = scale.scale,
                                          .bias = scale.bias,
                                          .walk = walk_parameters(axes)};
  Dispatch dispatch{.kernel = "integer_power", .inputs = {0, 1}};
  set_specialization(dispatch,
                     IntegerPowerSpecialization{.TYPE = any_type(kernel.output_type),
                                                .EXPONENT_TYPE = any_type(kernel.inputs[1].type),
                                                .IS_SCALED = kernel.input_scale.has_value()});
  set_parameters(dispatch, parameters);
  const std::uint64_t size = size_of(kernel.output_type);
  dispatch.stages.emplace_back(0, threads_for(kernel.output_elements() * size),
                               walk_work(size, axes.size() + power_work));
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
