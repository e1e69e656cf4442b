// Tiles of running sums and products: the axis that these run along stays whole.
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

std::vector<std::uint64_t> strides_of_scan(const ScanKernel& kernel) {
  std::vector<std::uint64_t> strides;
  for (const StridedAxis& axis : kernel.axes) strides.push_back(axis.stride);
  return strides;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const ScanKernel& kernel) {
  std::vector<std::uint64_t> extents;
  for (const StridedAxis& axis : kernel.axes) extents.push_back(axis.extent);
  return extents;
}

std::vector<std::size_t> input_element_sizes(const ScanKernel& kernel) {
  return {size_of(kernel.data_type)};
}

Needs needs_along(const ScanKernel& kernel, std::size_t axis, TileRange range) {
  const std::uint64_t extent = range.end - range.begin;
  return {extent, {kernel.axes[axis].stride == 0 ? 1 : extent}};
}

std::vector<std::uint64_t> cuts_of(const ScanKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool) {
  const std::uint64_t extent = kernel.axes[axis].extent;
  return even_cuts(extent, axis == kernel.axis ? extent : size);
}

Tile tile_of(const ScanKernel& kernel, const std::vector<TileRange>& box) {
  ScanKernel inner = kernel;
  InputBox needed = input_box(strides_of_scan(kernel), size_of(kernel.data_type), box, 0);
  for (std::size_t a = 0; a < box.size(); ++a)
    inner.axes[a] = {.extent = box[a].end - box[a].begin, .stride = needed.strides[a]};
  return {{std::move(needed.gather)}, std::move(inner), box};
}

Tile whole_tile_of(const ScanKernel& kernel) {
  const std::vector<std::uint64_t> extents = extents_of(kernel);
  return {{whole_input(strides_of_scan(kernel), extents, size_of(kernel.data_type), 0)},
          kernel,
          whole_box(extents)};
}

}  // namespace dmlop::tiles
