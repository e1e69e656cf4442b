#include "gpu/kernels/walk.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>

namespace dmlop::gpu::kernels {

std::string walk_refusal(const StridedAxes& axes) {
  return axes.size() > std::extent_v<decltype(WalkParameters::extents)>
             ? "it has more dimensions than a GPU kernel follows"
             : "";
}

WalkParameters walk_parameters(const StridedAxes& axes) {
  WalkParameters parameters{};
  if (const std::string refusal = walk_refusal(axes); !refusal.empty())
    throw std::logic_error("a walk of a GPU kernel: " + refusal);
  parameters.rank = word(axes.size());
  for (std::size_t a = 0; a < axes.size(); ++a) {
    parameters.extents[a] = word(axes[a].extent);
    std::transform(axes[a].strides.begin(), axes[a].strides.begin() + 3, parameters.strides + 3 * a,
                   word);
  }
  return parameters;
}

}  // namespace dmlop::gpu::kernels
