// Kernels that are not cut into tiles: joins and selections. Their outputs count as one axis.
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// What the kernels read of each input.
std::vector<Hull> hulls_of(const JoinKernel& kernel) {
  std::vector<Hull> hulls;
  for (const IndexMapKernel& part : kernel.parts) {
    Hull& hull = hulls.emplace_back();
    hull.offset = part.offset;
    for (const IndexMapAxis& axis : part.axes) hull.extend(axis.stride, axis.extent);
  }
  return hulls;
}
std::vector<Hull> hulls_of(const TopKKernel& kernel) {
  Hull hull;
  for (const StridedAxis& axis : kernel.axes)
    hull.extend(static_cast<std::int64_t>(axis.stride), axis.extent);
  return {hull};
}

template <typename KernelKind>
Needs whole_needs(const KernelKind& kernel) {
  Needs needs{output_elements(kernel), {}};
  for (const Hull& hull : hulls_of(kernel)) needs.inputs.push_back(hull.count);
  return needs;
}

template <typename KernelKind>
Tile whole_tile(const KernelKind& kernel) {
  Tile tile{{}, kernel, {{0, output_elements(kernel)}}};
  const auto sizes = input_element_sizes(kernel);
  const auto hulls = hulls_of(kernel);
  for (std::size_t i = 0; i < hulls.size(); ++i) tile.gathers.push_back(hulls[i].gather(sizes[i]));
  return tile;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const JoinKernel& kernel) {
  return {output_elements(kernel)};
}
std::vector<std::uint64_t> extents_of(const TopKKernel& kernel) {
  return {output_elements(kernel)};
}

std::vector<std::size_t> input_element_sizes(const JoinKernel& kernel) {
  return std::vector<std::size_t>(kernel.parts.size(), kernel.parts.front().element_size);
}
std::vector<std::size_t> input_element_sizes(const TopKKernel& kernel) {
  return {size_of(kernel.data_type)};
}

Needs needs_along(const JoinKernel& kernel, std::size_t, TileRange) {
  return whole_needs(kernel);
}
Needs needs_along(const TopKKernel& kernel, std::size_t, TileRange) {
  return whole_needs(kernel);
}

std::vector<std::uint64_t> cuts_of(const JoinKernel& kernel, std::size_t, std::uint64_t, bool) {
  return {0, output_elements(kernel)};
}
std::vector<std::uint64_t> cuts_of(const TopKKernel& kernel, std::size_t, std::uint64_t, bool) {
  return {0, output_elements(kernel)};
}

Tile tile_of(const JoinKernel& kernel, const std::vector<TileRange>&) {
  return whole_tile(kernel);
}
Tile tile_of(const TopKKernel& kernel, const std::vector<TileRange>&) {
  return whole_tile(kernel);
}

Tile whole_tile_of(const JoinKernel& kernel) {
  return whole_tile(kernel);
}
Tile whole_tile_of(const TopKKernel& kernel) {
  return whole_tile(kernel);
}

}  // namespace dmlop::tiles
