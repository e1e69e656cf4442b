// Equally spaced values: shaders/sequence.hlsl.
#include <cstring>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/sequence.hlsli"

DMLOP_SPECIALIZATION(SequenceSpecialization, SEQUENCE_SPECIALIZATION)

bool is_constant(const SequenceKernel& kernel) {
  return kernel.delta == std::array<std::byte, 8>{};
}

}  // namespace

Dispatches dispatches_of(const SequenceKernel& kernel) {
  if (kernel.data_type == DataType::Float64 && !is_constant(kernel))
    return refused("GPU kernels do not compute FLOAT64");
  const std::size_t size = size_of(kernel.data_type);
  SequenceParameters parameters{};
  std::memcpy(parameters.start, kernel.start.data(), size);
  std::memcpy(parameters.delta, kernel.delta.data(), size);
  parameters.vectors = word(threads_for(kernel.elements * size));
  Dispatch dispatch;
  dispatch.kernel = "sequence";
  set_specialization(dispatch, SequenceSpecialization{.TYPE = any_type(kernel.data_type),
                                                      .IS_CONSTANT = is_constant(kernel)});
  set_parameters(dispatch, parameters);
  if (is_constant(kernel)) {
    dispatch.stages.emplace_back(
        0, divided_up(parameters.vectors, VECTORS * group_threads) * group_threads, VECTORS + 1);
  } else {
    dispatch.stages.emplace_back(0, parameters.vectors, bytes_per_thread + 1);
  }
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
