// Local response normalization across channels: shaders/local_response.hlsl.
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/local_response.hlsli"

DMLOP_SPECIALIZATION(LocalResponseSpecialization, LOCAL_RESPONSE_SPECIALIZATION)

constexpr std::uint64_t window_most = WINDOW_MOST;

// Channels that a thread takes: enough of them that those around them cost little, and so few that
// there are many threads.
std::uint64_t segment_length(std::uint64_t channels, std::uint64_t vectors) {
  constexpr std::uint64_t busy_threads = std::uint64_t{1} << 18, shortest = 16, longest = 1024;
  const std::uint64_t threads = vectors / channels;
  std::uint64_t segments = 1;
  while ((threads * segments < busy_threads && channels / segments > shortest) ||
         channels / segments > longest)
    segments *= 2;
  return divided_up(channels, segments);
}

// The kernel's logarithm knows no negative numbers, and no power 0 of infinity.
bool is_positive(const LocalResponseKernel& kernel) {
  return kernel.bias >= 0 && kernel.factor >= 0 && kernel.beta > 0;
}

}  // namespace

Dispatches dispatches_of(const LocalResponseKernel& kernel) {
  if (kernel.axes.size() != 1 || !is_packed(kernel.extents, kernel.strides))
    return refused("its windows are not along one axis of a packed tensor");
  const std::size_t axis = kernel.axes.front();
  const std::uint64_t channels = kernel.extents[axis], inner = packed_strides(kernel.extents)[axis];
  const WindowReach reach = kernel.reach(axis);
  const std::uint64_t window = reach.before + 1 + reach.after;
  const std::uint64_t per = bytes_per_thread / size_of(kernel.data_type);
  const std::uint64_t elements = kernel.output_elements();
  if (window < 2 || window > window_most || inner % per != 0 || elements > 0xFFFFFFFF ||
      !is_positive(kernel))
    return refused("its windows or numbers are not for one reading");
  LocalResponseParameters parameters{};
  const std::uint64_t length = segment_length(channels, elements / per);
  parameters.channels = word(channels);
  parameters.stride = word(inner / per);
  parameters.segments = word(divided_up(channels, length));
  parameters.length = word(length);
  parameters.bias = kernel.bias;
  parameters.factor = kernel.factor;
  parameters.beta = kernel.beta;
  Dispatch dispatch;
  dispatch.kernel = "local_response";
  set_specialization(dispatch, LocalResponseSpecialization{.TYPE = known_type(kernel.data_type),
                                                           .BEFORE = reach.before,
                                                           .WINDOW = window});
  dispatch.inputs = {0};
  set_parameters(dispatch, parameters);
  const std::uint64_t threads = elements / per / channels * parameters.segments;
  // Of each channel: a load, a push, the sum, and two fours of numbers.
  constexpr std::uint64_t channel_work = 3 + 2 * window_most + 2 * 5;
  dispatch.stages.emplace_back(0, threads, (length + window_most + 4) * channel_work + window_most);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
