// Tiles of pooling: a range of outputs needs the input under its windows.
#include <algorithm>

#include "ops/index_map.hpp"
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

using Int = std::int64_t;

constexpr std::size_t batch_axes = 2;

/// The input of one pooling axis under output indices [begin, end).
struct PoolingBox {
  std::uint64_t begin = 0;
  std::uint64_t count = 1;
  PoolingAxis axis;
};

PoolingBox pooling_box(const PoolingAxis& axis, TileRange range) {
  const Int first = static_cast<Int>(range.begin * axis.window_stride) - axis.start_padding;
  const Int last =
      static_cast<Int>((range.end - 1) * axis.window_stride + axis.reach()) - axis.start_padding;
  const Int n = static_cast<Int>(axis.input_extent);
  const Int low = std::clamp<Int>(first, 0, n - 1);
  const Int high = std::clamp<Int>(last, low + 1, n);
  PoolingBox box{static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high - low), axis};
  box.axis.input_extent = box.count;
  box.axis.output_extent = range.end - range.begin;
  box.axis.start_padding = low - first;
  return box;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const LpPoolingKernel& kernel) {
  std::vector<std::uint64_t> extents(kernel.batch_extents.begin(), kernel.batch_extents.end());
  for (const PoolingAxis& axis : kernel.axes) extents.push_back(axis.output_extent);
  return extents;
}

std::vector<std::size_t> input_element_sizes(const LpPoolingKernel& kernel) {
  return {size_of(kernel.data_type)};
}

Needs needs_along(const LpPoolingKernel& kernel, std::size_t axis, TileRange range) {
  const std::uint64_t extent = range.end - range.begin;
  if (axis < batch_axes) return {extent, {extent}};
  return {extent, {pooling_box(kernel.axes[axis - batch_axes], range).count}};
}

std::vector<std::uint64_t> cuts_of(const LpPoolingKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool) {
  return even_cuts(extents_of(kernel)[axis], size);
}

Tile tile_of(const LpPoolingKernel& kernel, const std::vector<TileRange>& box) {
  LpPoolingKernel inner = kernel;
  IndexMapKernel gather{.element_size = size_of(kernel.data_type)};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto stride = static_cast<Int>(kernel.batch_strides[i]);
    inner.batch_extents[i] = box[i].end - box[i].begin;
    gather.offset += static_cast<Int>(box[i].begin) * stride;
    gather.axes.push_back({.extent = inner.batch_extents[i], .stride = stride});
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const PoolingBox input = pooling_box(kernel.axes[i], box[i + 2]);
    const auto stride = static_cast<Int>(kernel.axes[i].input_stride);
    inner.axes[i] = input.axis;
    gather.offset += static_cast<Int>(input.begin) * stride;
    gather.axes.push_back({.extent = input.count, .stride = stride});
  }
  std::uint64_t stride = 1;
  for (std::size_t i = 5; i-- > 0; stride *= gather.axes[i].extent) {
    (i >= 2 ? inner.axes[i - 2].input_stride : inner.batch_strides[i]) = stride;
  }
  return {{whole_gather(simplified(gather), 0)}, inner, box};
}

Tile whole_tile_of(const LpPoolingKernel& kernel) {
  Hull input;
  Tile tile;
  for (std::size_t i = 0; i < 2; ++i) {
    input.extend(static_cast<Int>(kernel.batch_strides[i]), kernel.batch_extents[i]);
    tile.box.push_back({0, kernel.batch_extents[i]});
  }
  for (const PoolingAxis& axis : kernel.axes) {
    input.extend(static_cast<Int>(axis.input_stride), axis.input_extent);
    tile.box.push_back({0, axis.output_extent});
  }
  tile.gathers.push_back(input.gather(size_of(kernel.data_type), 0));
  tile.kernel = kernel;
  return tile;
}

}  // namespace dmlop::tiles
