// Tiles of running sums and products: the axis that these run along stays whole.
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// The axis that sums run along has the number of outer axes.
StridedAxes all_axes(const SequenceAxes& axes) {
  StridedAxes all = axes.outer;
  all.push_back(axes.along);
  all.insert(all.end(), axes.inner.begin(), axes.inner.end());
  return all;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const ScanKernel& kernel) {
  return dmlop::extents_of(all_axes(kernel.axes));
}

std::vector<std::size_t> input_element_sizes(const ScanKernel& kernel) {
  return {size_of(kernel.data_type)};
}

Needs needs_along(const ScanKernel& kernel, std::size_t axis, TileRange range) {
  const std::uint64_t extent = range.end - range.begin;
  return {extent, {all_axes(kernel.axes)[axis].stride() == 0 ? 1 : extent}};
}

std::vector<std::uint64_t> cuts_of(const ScanKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool) {
  const std::uint64_t extent = extents_of(kernel)[axis];
  return even_cuts(extent, axis == kernel.axes.outer.size() ? extent : size);
}

Tile tile_of(const ScanKernel& kernel, const std::vector<TileRange>& box) {
  StridedAxes axes = all_axes(kernel.axes);
  InputBox needed = input_box(strides_of(axes, 0), size_of(kernel.data_type), box, 0);
  for (std::size_t a = 0; a < box.size(); ++a)
    axes[a] = {box[a].end - box[a].begin, {needed.strides[a]}};
  ScanKernel inner = kernel;
  inner.axes = sequences_along(axes, kernel.axes.outer.size());
  return {{std::move(needed.gather)}, std::move(inner), box};
}

Tile whole_tile_of(const ScanKernel& kernel) {
  const StridedAxes axes = all_axes(kernel.axes);
  const std::vector<std::uint64_t> extents = dmlop::extents_of(axes);
  return {{whole_input(strides_of(axes, 0), extents, size_of(kernel.data_type), 0)},
          kernel,
          whole_box(extents)};
}

}  // namespace dmlop::tiles
