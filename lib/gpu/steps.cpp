#include "gpu/steps.hpp"

#include <algorithm>
#include <utility>

#include "gpu/dispatch.hpp"
#include "gpu/kernels/fused_passes.hpp"

namespace dmlop::gpu {
namespace {

std::optional<kernels::FusedPasses> fused_passes(const Plan& plan, std::size_t first) {
  if (auto rows = kernels::fused_rows(plan, first)) return rows;
  return kernels::fused_local_response(plan, first);
}

}  // namespace

Step step_of(std::vector<Dispatch> dispatches, std::size_t inputs, std::size_t outputs) {
  Step step{std::move(dispatches)};
  for (std::size_t i = 0; i < inputs; ++i) step.reads.push_back(i);
  for (std::size_t i = 0; i < outputs; ++i) step.writes.push_back(inputs + i);
  return step;
}

std::uint64_t scratch_bytes(std::span<const Dispatch> dispatches) {
  std::uint64_t bytes = 0;
  for (const Dispatch& dispatch : dispatches) bytes = std::max(bytes, dispatch.scratch_bytes);
  return bytes;
}

Steps steps_of(const Plan& plan) {
  // Also of passes that are fused: what these are refused for, a fused kernel does not look at.
  std::vector<Dispatches> passes;
  for (const Pass& pass : plan.passes) {
    passes.push_back(make_dispatches(pass.kernel));
    if (!passes.back().refusal.empty()) return {.refusal = std::move(passes.back().refusal)};
  }
  Steps found;
  for (std::size_t at = 0; at < plan.passes.size();) {
    if (auto fused = fused_passes(plan, at)) {
      found.steps.push_back(
          {{std::move(fused->dispatch)}, std::move(fused->reads), {fused->write}});
      at += fused->passes;
      continue;
    }
    const Pass& pass = plan.passes[at];
    found.steps.push_back({std::move(passes[at].dispatches), pass.reads, pass.writes});
    ++at;
  }
  return found;
}

const Dispatch& chosen_dispatch(const Dispatch& usual, const DeviceInfo& device) {
  return device.has_matrices && !usual.with_matrices.empty() ? usual.with_matrices.front() : usual;
}

void prepare(Device& device, const Plan& plan) {
  if (!device.refusal().empty()) return;
  const Steps found = steps_of(plan);
  for (const Step& step : found.steps) {
    for (const Dispatch& dispatch : step.dispatches)
      device.prepare(chosen_dispatch(dispatch, device.info()));
  }
}

}  // namespace dmlop::gpu
