// Tiles of data movement: each axis maps on its own, so a range of outputs needs a range of
// sources.
#include <algorithm>

#include "ops/index_map.hpp"
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

using Int = std::int64_t;

/// Source indices [begin, end) of one axis, and how a tile's copy of them is read.
struct SourceBox {
  Int offset = 0;  // elements from the axis' source index 0 to the first copied element
  Int stride = 0;  // between copied elements
  std::uint64_t count = 1;
  IndexMapAxis axis;  // reads the copy; its stride is set when all axes are known
};

bool is_periodic(Boundary boundary) {
  return boundary == Boundary::reflection || boundary == Boundary::symmetric ||
         boundary == Boundary::wrap;
}

// The same start padding of a periodic axis of n source indices, within one period: far tiles of
// large tensors would leave the kernels' 32 bits.
Int within_period(Boundary boundary, Int start_padding, Int n) {
  if (!is_periodic(boundary)) return start_padding;
  const Int period = boundary == Boundary::wrap        ? n
                     : boundary == Boundary::symmetric ? 2 * n
                                                       : std::max<Int>(1, 2 * (n - 1));
  return start_padding % period;
}

// What output indices [begin, end) of an axis read.
SourceBox source_box(const IndexMapAxis& axis, TileRange range) {
  const std::uint64_t extent = range.end - range.begin;
  const Piece piece = piece_at(axis, range.begin);
  SourceBox box;
  box.axis.extent = extent;
  if (piece.count >= extent && !piece.outside) {
    // One even stretch: copied in the order of the outputs.
    box.offset = piece.offset;
    box.stride = piece.stride;
    box.count = piece.stride == 0 ? 1 : extent;
    return box;
  }
  box.axis.boundary = axis.boundary;
  if (piece.count >= extent) {
    box.axis.start_padding = static_cast<Int>(extent);  // all of it before the (unread) input
    return box;
  }
  const Int n = static_cast<Int>(axis.input_extent);
  const Int first = static_cast<Int>(range.begin) - axis.start_padding;
  const Int last = static_cast<Int>(range.end) - 1 - axis.start_padding;
  const Int low = is_periodic(axis.boundary) ? 0 : std::clamp<Int>(first, 0, n - 1);
  const Int high = is_periodic(axis.boundary) ? n - 1 : std::clamp<Int>(last, 0, n - 1);
  box.offset = low * axis.stride;
  box.stride = axis.stride;
  box.count = static_cast<std::uint64_t>(high - low + 1);
  const Int start_padding = axis.start_padding - static_cast<Int>(range.begin) + low;
  box.axis.start_padding = within_period(axis.boundary, start_padding, n);
  box.axis.input_extent = box.count;
  return box;
}

// Copies of several axes lie packed, the last axis fastest.
template <typename Boxes, typename SetStride>
void pack(const Boxes& boxes, SetStride&& set_stride) {
  std::uint64_t stride = 1;
  for (std::size_t i = boxes.size(); i-- > 0;) {
    set_stride(i, stride);
    stride *= boxes[i].count;
  }
}

bool is_reversed(const IndexMapKernel& kernel, std::size_t axis) {
  return kernel.reversal && kernel.reversal->axis == axis;
}

// Cuts an axis wherever its source turns or jumps, and so that no part is larger than `size`.
std::vector<std::uint64_t> piece_cuts(const IndexMapAxis& axis, std::uint64_t size) {
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t at = 0; at < axis.extent;) {
    cuts.push_back(at);
    at += std::min(piece_at(axis, at).count, size);
  }
  cuts.push_back(axis.extent);
  return cuts;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const IndexMapKernel& kernel) {
  std::vector<std::uint64_t> extents;
  for (const IndexMapAxis& axis : kernel.axes) extents.push_back(axis.extent);
  return extents;
}

std::vector<std::size_t> input_element_sizes(const IndexMapKernel& kernel) {
  std::vector<std::size_t> sizes{kernel.element_size};
  if (kernel.reversal) sizes.push_back(size_of(kernel.reversal->lengths_type));
  return sizes;
}

Needs needs_along(const IndexMapKernel& kernel, std::size_t axis, TileRange range) {
  const std::uint64_t extent = range.end - range.begin;
  Needs needs{extent, {source_box(kernel.axes[axis], range).count}};
  if (kernel.reversal) needs.inputs.push_back(is_reversed(kernel, axis) ? 1 : extent);
  return needs;
}

// A reversed axis stays whole. A range of a periodic axis that turns needs all of its source, so
// such an axis is cut at its turns where the input is too large.
std::vector<std::uint64_t> cuts_of(const IndexMapKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool inputs_fit) {
  const std::uint64_t extent = kernel.axes[axis].extent;
  if (is_reversed(kernel, axis)) return {0, extent};
  if (is_periodic(kernel.axes[axis].boundary) && !inputs_fit)
    return piece_cuts(kernel.axes[axis], size);
  return even_cuts(extent, size);
}

Tile tile_of(const IndexMapKernel& kernel, const std::vector<TileRange>& box) {
  IndexMapKernel gather{.element_size = kernel.element_size, .offset = kernel.offset};
  IndexMapKernel lengths{.element_size = 4};
  IndexMapKernel inner = kernel;
  inner.offset = 0;
  inner.axes.clear();
  std::vector<SourceBox> sources;
  for (std::size_t i = 0; i < kernel.axes.size(); ++i) {
    sources.push_back(source_box(kernel.axes[i], box[i]));
    gather.offset += sources[i].offset;
    gather.axes.push_back({.extent = sources[i].count, .stride = sources[i].stride});
    inner.axes.push_back(sources[i].axis);
    const bool skipped = is_reversed(kernel, i);
    const auto lengths_stride = static_cast<Int>(kernel.axes[i].lengths_stride);
    lengths.offset += skipped ? 0 : static_cast<Int>(box[i].begin) * lengths_stride;
    lengths.axes.push_back(
        {.extent = skipped ? 1 : sources[i].axis.extent, .stride = lengths_stride});
  }
  pack(sources, [&](std::size_t i, std::uint64_t stride) {
    inner.axes[i].stride = sources[i].count == 1 ? 0 : static_cast<Int>(stride);
  });
  Tile tile{{whole_gather(simplified(gather), 0)}, {}, box};
  if (kernel.reversal) {
    lengths.element_size = size_of(kernel.reversal->lengths_type);
    std::uint64_t stride = 1;
    for (std::size_t i = kernel.axes.size(); i-- > 0;) {
      inner.axes[i].lengths_stride = is_reversed(kernel, i) ? 0 : stride;
      stride *= lengths.axes[i].extent;
    }
    tile.gathers.push_back(whole_gather(simplified(lengths), 1));
  }
  tile.kernel = simplified(inner);
  return tile;
}

Tile whole_tile_of(const IndexMapKernel& kernel) {
  Hull input{.offset = kernel.offset}, lengths;
  Tile tile;
  for (const IndexMapAxis& axis : kernel.axes) {
    input.extend(axis.stride, axis.boundary == Boundary::none ? axis.extent : axis.input_extent);
    lengths.extend(static_cast<Int>(axis.lengths_stride), axis.extent);
    tile.box.push_back({0, axis.extent});
  }
  IndexMapKernel inner = kernel;
  inner.offset -= input.offset;
  tile.gathers.push_back(input.gather(kernel.element_size, 0));
  if (kernel.reversal)
    tile.gathers.push_back(lengths.gather(size_of(kernel.reversal->lengths_type), 1));
  tile.kernel = inner;
  return tile;
}

}  // namespace dmlop::tiles
