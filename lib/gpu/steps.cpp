#include "gpu/steps.hpp"

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

}  // namespace dmlop::gpu
