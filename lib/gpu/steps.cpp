#include "gpu/steps.hpp"

#include <algorithm>

#include "gpu/dispatch.hpp"
#include "gpu/resident/fused_passes.hpp"

namespace dmlop::gpu {
namespace {

std::optional<resident::FusedPasses> fused_passes(const Plan& plan, std::size_t first) {
  if (auto rows = resident::fused_rows(plan, first)) return rows;
  return resident::fused_local_response(plan, first);
}

}  // namespace

std::vector<Step> steps_of(const Plan& plan) {
  std::vector<Step> steps;
  for (std::size_t at = 0; at < plan.passes.size();) {
    if (auto fused = fused_passes(plan, at)) {
      steps.push_back(
          {nullptr, {std::move(fused->dispatch)}, std::move(fused->reads), {fused->write}});
      at += fused->passes;
      continue;
    }
    const Pass& pass = plan.passes[at++];
    Step& step = steps.emplace_back(Step{.reads = pass.reads, .writes = pass.writes});
    if (is_tiled(pass.kernel))
      step.tiled = &pass.kernel;
    else
      step.dispatches = make_resident_dispatches(pass.kernel);
  }
  return steps;
}

bool has_kernels_for(const Plan& plan) {
  return std::all_of(plan.passes.begin(), plan.passes.end(),
                     [](const Pass& pass) { return kernel_refusal(pass.kernel).empty(); });
}

const ResidentDispatch& chosen_dispatch(const ResidentDispatch& usual, const DeviceInfo& device) {
  return device.has_matrices && !usual.with_matrices.empty() ? usual.with_matrices.front() : usual;
}

void prepare(Device& device, const Plan& plan) {
  if (!device.resident_refusal().empty() || !has_kernels_for(plan)) return;
  for (const Step& step : steps_of(plan)) {
    for (const ResidentDispatch& dispatch : step.dispatches)
      device.prepare(chosen_dispatch(dispatch, device.info()));
  }
}

}  // namespace dmlop::gpu
