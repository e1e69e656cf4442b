// Casts: shaders/cast.hlsl.
#include <algorithm>

#include "gpu/kernels/element_wise.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/cast.hlsli"

DMLOP_SPECIALIZATION(CastSpecialization, CAST_SPECIALIZATION)

// Integers of 4 bits have a byte each, and are cast as one.
uint cast_type(DataType type) {
  return any_type(has_4_bits(type) ? stored_as(type) : type);
}

}  // namespace

Dispatch cast_dispatch(const ElementWiseKernel& kernel) {
  CastParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  parameters.rank = word(kernel.extents.size());
  std::transform(kernel.extents.begin(), kernel.extents.end(), parameters.extents, word);
  const ElementWiseInput& input = kernel.inputs.front();
  std::transform(input.strides.begin(), input.strides.end(), parameters.strides, word);
  const bool linear = is_packed(kernel, input);
  Dispatch dispatch{.kernel = "cast", .inputs = {0}};
  set_specialization(dispatch, CastSpecialization{.FROM = cast_type(input.type),
                                                  .TO = cast_type(kernel.output_type),
                                                  .IS_LINEAR = linear});
  set_parameters(dispatch, parameters);
  const std::uint64_t per_thread = bytes_per_thread / size_of(kernel.output_type);
  dispatch.stages.emplace_back(0, divided_up(kernel.output_elements(), per_thread),
                               per_thread * (linear ? 1 : 2 + axes_most) + 4);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
