#include "gpu/kernels/walk.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace dmlop::gpu::kernels {
namespace {

bool continues(const WalkAxis& outer, const WalkAxis& inner) {
  for (std::size_t k = 0; k < outer.strides.size(); ++k) {
    if (outer.strides[k] != inner.extent * inner.strides[k]) return false;
  }
  return true;
}

}  // namespace

std::vector<WalkAxis> merged(const std::vector<WalkAxis>& axes) {
  std::vector<WalkAxis> merged;
  for (const WalkAxis& axis : axes) {
    if (axis.extent == 1) continue;
    if (!merged.empty() && continues(merged.back(), axis)) {
      merged.back() = {merged.back().extent * axis.extent, axis.strides};
    } else {
      merged.push_back(axis);
    }
  }
  if (merged.empty()) merged.push_back({1, {}});
  return merged;
}

std::string walk_refusal(const std::vector<WalkAxis>& axes) {
  return axes.size() > std::extent_v<decltype(WalkParameters::extents)>
             ? "it has more dimensions than a GPU kernel follows"
             : "";
}

WalkParameters walk_parameters(const std::vector<WalkAxis>& axes) {
  WalkParameters parameters{};
  if (const std::string refusal = walk_refusal(axes); !refusal.empty())
    throw std::logic_error("a walk of a GPU kernel: " + refusal);
  parameters.rank = word(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    parameters.extents[a] = word(axes[a].extent);
    std::transform(axes[a].strides.begin(), axes[a].strides.end(), parameters.strides + 3 * a,
                   word);
  }
  return parameters;
}

}  // namespace dmlop::gpu::kernels
