#include "gpu/steps.hpp"

#include <algorithm>
#include <utility>

#include "gpu/dispatch.hpp"
#include "ops/expand.hpp"

namespace dmlop::gpu {

Step step_of(std::vector<Dispatch> dispatches, std::size_t inputs, std::size_t outputs) {
  Step step{std::move(dispatches)};
  for (std::size_t i = 0; i < inputs; ++i) step.reads.push_back(i);
  for (std::size_t i = 0; i < outputs; ++i) step.writes.push_back(inputs + i);
  return step;
}

std::uint64_t scratch_bytes(std::span<const Dispatch> dispatches, const DeviceInfo& device) {
  std::uint64_t bytes = 0;
  for (const Dispatch& usual : dispatches)
    bytes = std::max(bytes, chosen_dispatch(usual, device).scratch_bytes);
  return bytes;
}

std::uint64_t scratch_bytes(std::span<const Step> steps, const DeviceInfo& device) {
  std::uint64_t bytes = 0;
  for (const Step& step : steps) bytes = std::max(bytes, scratch_bytes(step.dispatches, device));
  return bytes;
}

Steps steps_of(const Plan& plan) {
  const auto runs = [](const Kernel& kernel) { return make_dispatches(kernel).refusal.empty(); };
  const std::optional<Plan> other = expanded(plan, runs);
  const Plan& made = other ? *other : plan;
  Steps found{.slots = made.slots};
  for (const Pass& pass : made.passes) {
    Dispatches dispatches = make_dispatches(pass.kernel);
    if (!dispatches.refusal.empty()) return {.refusal = std::move(dispatches.refusal)};
    found.steps.push_back({std::move(dispatches.dispatches), pass.reads, pass.writes});
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
