#include "ops/kernels/strided_axes.hpp"

#include <algorithm>

#include "base/checked.hpp"

namespace dmlop {
namespace {

// Whether stepping along the outer axis continues where the inner one ends.
bool moves_as_one(const StridedAxis& outer, const StridedAxis& inner) {
  for (std::size_t k = 0; k < outer.strides.size(); ++k) {
    if (checked_multiply(inner.extent, inner.strides[k]) != outer.strides[k]) return false;
  }
  return checked_multiply(outer.extent, inner.extent).has_value();
}

}  // namespace

StridedAxes strided_axes(const std::vector<std::uint64_t>& extents,
                         const std::vector<std::vector<std::uint64_t>>& operands) {
  StridedAxes axes;
  for (std::size_t a = 0; a < extents.size(); ++a) {
    axes.push_back({extents[a], {}});
    for (std::size_t k = 0; k < operands.size(); ++k) axes[a].strides.at(k) = operands[k].at(a);
  }
  return axes;
}

StridedAxes merged(const StridedAxes& axes, std::size_t operands) {
  StridedAxes merged;
  for (StridedAxis axis : axes) {
    if (axis.extent == 1) continue;
    std::fill(axis.strides.begin() + static_cast<std::ptrdiff_t>(operands), axis.strides.end(), 0);
    if (!merged.empty() && moves_as_one(merged.back(), axis)) {
      axis.extent *= merged.back().extent;
      merged.pop_back();
    }
    merged.push_back(axis);
  }
  if (merged.empty()) merged.emplace_back();
  return merged;
}

std::uint64_t SequenceAxes::sequences() const {
  return elements_of(outer) * elements_of(inner);
}

SequenceAxes sequences_along(const StridedAxes& axes, std::size_t axis) {
  const auto along = axes.begin() + static_cast<std::ptrdiff_t>(axis);
  return {merged({axes.begin(), along}), *along, merged({along + 1, axes.end()})};
}

std::vector<std::uint64_t> extents_of(const StridedAxes& axes) {
  std::vector<std::uint64_t> extents;
  for (const StridedAxis& axis : axes) extents.push_back(axis.extent);
  return extents;
}

std::vector<std::uint64_t> strides_of(const StridedAxes& axes, std::size_t operand) {
  std::vector<std::uint64_t> strides;
  for (const StridedAxis& axis : axes) strides.push_back(axis.strides[operand]);
  return strides;
}

std::uint64_t elements_of(const StridedAxes& axes) {
  std::uint64_t count = 1;
  for (const StridedAxis& axis : axes) count *= axis.extent;
  return count;
}

}  // namespace dmlop
