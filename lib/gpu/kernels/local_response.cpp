// Local response normalization across channels: shaders/local_response.hlsl.
#include <algorithm>

#include "gpu/kernels/element_wise.hpp"
#include "gpu/kernels/fused_passes.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/local_response.hlsli"

DMLOP_SPECIALIZATION(LocalResponseSpecialization, LOCAL_RESPONSE_SPECIALIZATION)

constexpr std::uint64_t window_most = WINDOW_MOST;

/// A padded copy, the sums of its windows, and what elements become by these.
struct Match {
  const IndexMapKernel* padding;
  const ReduceKernel* sums;
  const ElementWiseKernel* map;
};

std::optional<Match> match_of(const Plan& plan, std::size_t first) {
  if (first + 3 > plan.passes.size()) return {};
  const Pass *padding = &plan.passes[first], *sums = padding + 1, *map = padding + 2;
  const Match match{std::get_if<IndexMapKernel>(&padding->kernel),
                    std::get_if<ReduceKernel>(&sums->kernel),
                    std::get_if<ElementWiseKernel>(&map->kernel)};
  if (match.padding == nullptr || match.sums == nullptr || match.map == nullptr) return {};
  const std::size_t copy = padding->writes.front(), sum = sums->writes.front();
  const bool are_linked = sums->reads == std::vector{copy} &&
                          map->reads == std::vector{padding->reads.front(), sum} &&
                          is_forgotten(plan, copy, first + 2) && is_forgotten(plan, sum, first + 2);
  const bool is_response = match.sums->function == ReduceFunction::sum &&
                           match.sums->term == ReduceTerm::square &&
                           match.sums->finish == ReduceFinish::none &&
                           match.map->expression == Expression::local_response;
  if (!are_linked || !is_response) return {};
  return match;
}

/// Windows along an axis that axes outside and inside of it are packed around.
struct Windows {
  std::uint64_t channels;
  std::uint64_t inner;  // elements of a channel
  std::uint64_t before;
  std::uint64_t size;
};

std::optional<Windows> windows_of(const Match& match) {
  const std::vector<IndexMapAxis>& axes = match.padding->axes;
  const auto padded = std::find_if(axes.begin(), axes.end(), [](const IndexMapAxis& axis) {
    return axis.boundary == Boundary::constant;
  });
  if (padded == axes.end() || padded->start_padding < 0 || padded->stride < 1 ||
      !is_packed(*match.map, match.map->inputs.front()))
    return {};
  // Axes of the copy are merged, those of the windows are not.
  const std::uint64_t inner = match.sums->operands.front().strides.back();
  const auto stride = static_cast<std::uint64_t>(padded->stride);
  return Windows{.channels = padded->input_extent * stride / inner,
                 .inner = inner,
                 .before = static_cast<std::uint64_t>(padded->start_padding) * stride / inner,
                 .size = match.sums->extents.back()};
}

// Channels that a thread takes: enough of them that those around them cost little, and so few that
// there are many threads.
std::uint64_t segment_length(const Windows& windows, std::uint64_t vectors) {
  constexpr std::uint64_t busy_threads = std::uint64_t{1} << 18, shortest = 16, longest = 1024;
  const std::uint64_t threads = vectors / windows.channels;
  std::uint64_t segments = 1;
  while ((threads * segments < busy_threads && windows.channels / segments > shortest) ||
         windows.channels / segments > longest)
    segments *= 2;
  return divided_up(windows.channels, segments);
}

}  // namespace

std::optional<FusedPasses> fused_local_response(const Plan& plan, std::size_t first) {
  const std::optional<Match> match = match_of(plan, first);
  if (!match) return {};
  const std::optional<Windows> windows = windows_of(*match);
  const DataType type = match->map->inputs.front().type;
  const std::uint64_t per = bytes_per_thread / size_of(type);
  const std::uint64_t elements = match->map->output_elements();
  const auto& numbers = match->map->parameters;
  // The kernel's logarithm knows no negative numbers, and no power 0 of infinity.
  const bool is_positive = numbers[0].real >= 0 && numbers[1].real >= 0 && numbers[2].real > 0;
  if (!windows || !is_positive || windows->size > window_most || windows->inner % per != 0 ||
      type != match->map->output_type || elements > 0xFFFFFFFF)
    return {};
  LocalResponseParameters parameters{};
  const std::uint64_t length = segment_length(*windows, elements / per);
  parameters.channels = word(windows->channels);
  parameters.stride = word(windows->inner / per);
  parameters.segments = word(divided_up(windows->channels, length));
  parameters.length = word(length);
  parameters.bias = static_cast<float>(numbers[0].real);
  parameters.factor = static_cast<float>(numbers[1].real);
  parameters.beta = static_cast<float>(numbers[2].real);
  FusedPasses passes{.passes = 3,
                     .reads = {plan.passes[first].reads.front()},
                     .write = plan.passes[first + 2].writes.front(),
                     .dispatch = {}};
  passes.dispatch.kernel = "local_response";
  set_specialization(passes.dispatch, LocalResponseSpecialization{.TYPE = known_type(type),
                                                                  .BEFORE = windows->before,
                                                                  .WINDOW = windows->size});
  passes.dispatch.inputs = {0};
  set_parameters(passes.dispatch, parameters);
  const std::uint64_t threads = elements / per / windows->channels * parameters.segments;
  // Of each channel: a load, a push, the sum, and two fours of numbers.
  constexpr std::uint64_t channel_work = 3 + 2 * window_most + 2 * 5;
  passes.dispatch.stages.emplace_back(0, threads,
                                      (length + window_most + 4) * channel_work + window_most);
  return passes;
}

}  // namespace dmlop::gpu::kernels
