// Random bits: shaders/random_bits.hlsl.
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/random_bits.hlsli"

DMLOP_SPECIALIZATION(RandomBitsSpecialization, RANDOM_BITS_SPECIALIZATION)

constexpr std::uint64_t rounds = 10;

}  // namespace

Dispatches dispatches_of(const RandomBitsKernel& kernel) {
  RandomBitsParameters parameters{};
  parameters.state_stride = word(kernel.state_stride);
  parameters.blocks = word(divided_up(kernel.elements, 4));
  Dispatch dispatch;
  dispatch.kernel = "random_bits";
  set_specialization(dispatch, RandomBitsSpecialization{.IS_NEXT_STATE = kernel.is_next_state});
  dispatch.inputs = {0};
  set_parameters(dispatch, parameters);
  dispatch.stages.emplace_back(0, threads_for(kernel.output_elements() * sizeof(uint)), rounds + 1);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
