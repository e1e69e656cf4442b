#include "ops/tiling.hpp"

#include <algorithm>

#include "ops/index_map.hpp"

namespace dmlop {
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

/// The input of one pooling axis under output indices [begin, end).
struct PoolingBox {
  std::uint64_t begin = 0;
  std::uint64_t count = 1;
  PoolingAxis axis;
};

PoolingBox pooling_box(const PoolingAxis& axis, TileRange range) {
  const Int first = static_cast<Int>(range.begin * axis.window_stride) - axis.start_padding;
  const Int last =
      static_cast<Int>((range.end - 1) * axis.window_stride + axis.window) - axis.start_padding;
  const Int n = static_cast<Int>(axis.input_extent);
  const Int low = std::clamp<Int>(first, 0, n - 1);
  const Int high = std::clamp<Int>(last, low + 1, n);
  PoolingBox box{static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high - low), axis};
  box.axis.input_extent = box.count;
  box.axis.output_extent = range.end - range.begin;
  box.axis.start_padding = low - first;
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

bool is_reversed(const IndexMapPlan& plan, std::size_t axis) {
  return plan.reversal && plan.reversal->axis == axis;
}

Tile index_map_tile(const IndexMapPlan& plan, const std::vector<TileRange>& ranges) {
  IndexMapPlan gather{.element_size = plan.element_size, .offset = plan.offset};
  IndexMapPlan lengths{.element_size = 4};
  IndexMapPlan inner = plan;
  inner.offset = 0;
  inner.axes.clear();
  std::vector<SourceBox> boxes;
  for (std::size_t i = 0; i < plan.axes.size(); ++i) {
    boxes.push_back(source_box(plan.axes[i], ranges[i]));
    gather.offset += boxes[i].offset;
    gather.axes.push_back({.extent = boxes[i].count, .stride = boxes[i].stride});
    inner.axes.push_back(boxes[i].axis);
    const bool skipped = is_reversed(plan, i);
    const auto lengths_stride = static_cast<Int>(plan.axes[i].lengths_stride);
    lengths.offset += skipped ? 0 : static_cast<Int>(ranges[i].begin) * lengths_stride;
    lengths.axes.push_back(
        {.extent = skipped ? 1 : boxes[i].axis.extent, .stride = lengths_stride});
  }
  pack(boxes, [&](std::size_t i, std::uint64_t stride) {
    inner.axes[i].stride = boxes[i].count == 1 ? 0 : static_cast<Int>(stride);
  });
  Tile tile{{simplified(gather)}, {}, ranges};
  if (plan.reversal) {
    lengths.element_size = size_of(plan.reversal->lengths_type);
    std::uint64_t stride = 1;
    for (std::size_t i = plan.axes.size(); i-- > 0;) {
      inner.axes[i].lengths_stride = is_reversed(plan, i) ? 0 : stride;
      stride *= lengths.axes[i].extent;
    }
    tile.gathers.push_back(simplified(lengths));
  }
  tile.plan = simplified(inner);
  return tile;
}

Tile lp_pooling_tile(const LpPoolingPlan& plan, const std::vector<TileRange>& ranges) {
  LpPoolingPlan inner = plan;
  IndexMapPlan gather{.element_size = size_of(plan.data_type)};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto stride = static_cast<Int>(plan.batch_strides[i]);
    inner.batch_extents[i] = ranges[i].end - ranges[i].begin;
    gather.offset += static_cast<Int>(ranges[i].begin) * stride;
    gather.axes.push_back({.extent = inner.batch_extents[i], .stride = stride});
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const PoolingBox box = pooling_box(plan.axes[i], ranges[i + 2]);
    const auto stride = static_cast<Int>(plan.axes[i].input_stride);
    inner.axes[i] = box.axis;
    gather.offset += static_cast<Int>(box.begin) * stride;
    gather.axes.push_back({.extent = box.count, .stride = stride});
  }
  std::uint64_t stride = 1;
  for (std::size_t i = 5; i-- > 0; stride *= gather.axes[i].extent) {
    (i >= 2 ? inner.axes[i - 2].input_stride : inner.batch_strides[i]) = stride;
  }
  return {{simplified(gather)}, inner, ranges};
}

std::vector<std::uint64_t> output_extents(const Plan& plan) {
  std::vector<std::uint64_t> extents;
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) {
    for (const IndexMapAxis& axis : map->axes) extents.push_back(axis.extent);
  } else {
    const auto& pooling = std::get<LpPoolingPlan>(plan);
    extents.assign(pooling.batch_extents.begin(), pooling.batch_extents.end());
    for (const PoolingAxis& axis : pooling.axes) extents.push_back(axis.output_extent);
  }
  return extents;
}

/// A contiguous part of an input that holds all a plan reads: elements [offset, offset + count).
struct Hull {
  Int offset = 0;
  std::uint64_t count = 1;

  void extend(Int stride, std::uint64_t indices) {
    const Int reach = static_cast<Int>(indices - 1) * stride;
    offset += std::min<Int>(reach, 0);
    count += static_cast<std::uint64_t>(reach < 0 ? -reach : reach);
  }
  IndexMapPlan gather(std::size_t element_size) const {
    return {
        .element_size = element_size, .offset = offset, .axes = {{.extent = count, .stride = 1}}};
  }
};

// The whole plan as one tile: the inputs' hulls as they lie in memory, the plan's own strides.
Tile whole_index_map(const IndexMapPlan& plan) {
  Hull input{.offset = plan.offset}, lengths;
  Tile tile;
  for (const IndexMapAxis& axis : plan.axes) {
    input.extend(axis.stride, axis.boundary == Boundary::none ? axis.extent : axis.input_extent);
    lengths.extend(static_cast<Int>(axis.lengths_stride), axis.extent);
    tile.box.push_back({0, axis.extent});
  }
  IndexMapPlan inner = plan;
  inner.offset -= input.offset;
  tile.gathers.push_back(input.gather(plan.element_size));
  if (plan.reversal) tile.gathers.push_back(lengths.gather(size_of(plan.reversal->lengths_type)));
  tile.plan = inner;
  return tile;
}

Tile whole_lp_pooling(const LpPoolingPlan& plan) {
  Hull input;
  Tile tile;
  for (std::size_t i = 0; i < 2; ++i) {
    input.extend(static_cast<Int>(plan.batch_strides[i]), plan.batch_extents[i]);
    tile.box.push_back({0, plan.batch_extents[i]});
  }
  for (const PoolingAxis& axis : plan.axes) {
    input.extend(static_cast<Int>(axis.input_stride), axis.input_extent);
    tile.box.push_back({0, axis.output_extent});
  }
  tile.gathers.push_back(input.gather(size_of(plan.data_type)));
  tile.plan = plan;
  return tile;
}

Tile whole_tile(const Plan& plan) {
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) return whole_index_map(*map);
  return whole_lp_pooling(std::get<LpPoolingPlan>(plan));
}

Tile make_tile(const Plan& plan, const std::vector<TileRange>& ranges) {
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) return index_map_tile(*map, ranges);
  return lp_pooling_tile(std::get<LpPoolingPlan>(plan), ranges);
}

bool fits(const Plan& plan, const TileLimits& limits) {
  const std::uint64_t elements = output_elements(plan);
  return elements <= limits.buffer_elements &&
         elements <= limits.buffer_bytes / output_element_size(plan);
}

bool fits(const Tile& tile, const TileLimits& limits) {
  const auto gather_fits = [&](const IndexMapPlan& gather) { return fits(Plan(gather), limits); };
  return fits(tile.plan, limits) &&
         std::all_of(tile.gathers.begin(), tile.gathers.end(), gather_fits);
}

// Positions 0, size, 2 * size … extent.
std::vector<std::uint64_t> even_cuts(std::uint64_t extent, std::uint64_t size) {
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t at = 0; at < extent; at += size) cuts.push_back(at);
  cuts.push_back(extent);
  return cuts;
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

/// Elements of a tile's buffers along one axis; a buffer's size is the product over all axes.
struct Needs {
  std::uint64_t output = 1;
  std::uint64_t input = 1;
  std::uint64_t lengths = 1;
};

Needs needs_along(const Plan& plan, std::size_t axis, TileRange range) {
  const std::uint64_t extent = range.end - range.begin;
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) {
    const std::uint64_t input = source_box(map->axes[axis], range).count;
    return {extent, input, map->reversal && !is_reversed(*map, axis) ? extent : 1};
  }
  if (axis < 2) return {extent, extent, 1};
  return {extent, pooling_box(std::get<LpPoolingPlan>(plan).axes[axis - 2], range).count, 1};
}

/// Finds the cuts of all axes: outermost first, so that a tile's outputs lie together.
class Cutter {
 public:
  Cutter(const Plan& plan, const TileLimits& limits)
      : plan_(plan), limits_(limits), extents_(output_extents(plan)) {
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      cuts_.emplace_back();
      needs_.emplace_back();
      cut(axis, {0, extents_[axis]});
    }
  }

  std::optional<std::vector<std::vector<std::uint64_t>>> run() {
    const auto* map = std::get_if<IndexMapPlan>(&plan_);
    for (std::size_t axis = 0; axis < extents_.size() && !all_fit(); ++axis) {
      if (map != nullptr && is_reversed(*map, axis)) continue;  // stays whole
      const bool at_pieces =
          map != nullptr && is_periodic(map->axes[axis].boundary) && !input_fits();
      for (std::uint64_t size = extents_[axis]; !all_fit() && size > 1;) {
        size = (size + 1) / 2;
        cut(axis, at_pieces ? piece_cuts(map->axes[axis], size) : even_cuts(extents_[axis], size));
      }
    }
    return all_fit() ? std::optional(cuts_) : std::nullopt;
  }

 private:
  // The grid holds every combination of the axes' ranges, so the largest needs of each axis meet.
  void cut(std::size_t axis, std::vector<std::uint64_t> cuts) {
    Needs largest;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const Needs needs = needs_along(plan_, axis, {cuts[i], cuts[i + 1]});
      largest.output = std::max(largest.output, needs.output);
      largest.input = std::max(largest.input, needs.input);
      largest.lengths = std::max(largest.lengths, needs.lengths);
    }
    needs_[axis] = largest;
    cuts_[axis] = std::move(cuts);
  }

  bool product_fits(std::uint64_t Needs::*buffer, std::size_t element_size) const {
    std::uint64_t left =
        std::min<std::uint64_t>(limits_.buffer_elements, limits_.buffer_bytes / element_size);
    for (const Needs& needs : needs_) left /= needs.*buffer;
    return left > 0;
  }

  bool input_fits() const { return product_fits(&Needs::input, output_element_size(plan_)); }

  bool lengths_fit() const {
    const auto* map = std::get_if<IndexMapPlan>(&plan_);
    if (map == nullptr || !map->reversal) return true;
    return product_fits(&Needs::lengths, size_of(map->reversal->lengths_type));
  }

  bool all_fit() const {
    return input_fits() && lengths_fit() &&
           product_fits(&Needs::output, output_element_size(plan_));
  }

  const Plan& plan_;
  const TileLimits& limits_;
  std::vector<std::uint64_t> extents_;
  std::vector<std::vector<std::uint64_t>> cuts_;
  std::vector<Needs> needs_;  // per axis, the largest of its ranges
};

}  // namespace

std::optional<TileGrid> TileGrid::make(const Plan& plan, const TileLimits& limits) {
  TileGrid grid;
  grid.plan_ = plan;
  if (fits(whole_tile(plan), limits)) {
    for (const std::uint64_t extent : output_extents(plan)) grid.cuts_.push_back({0, extent});
    grid.whole_ = true;
    return grid;
  }
  auto cuts = Cutter(plan, limits).run();
  if (!cuts) return std::nullopt;
  grid.cuts_ = std::move(*cuts);
  for (const auto& along : grid.cuts_) grid.count_ *= along.size() - 1;
  return grid;
}

Tile TileGrid::tile(std::uint64_t index) const {
  if (whole_) return whole_tile(plan_);
  std::vector<TileRange> ranges(cuts_.size());
  for (std::size_t i = cuts_.size(); i-- > 0;) {
    const std::uint64_t along = cuts_[i].size() - 1;
    ranges[i] = {cuts_[i][index % along], cuts_[i][index % along + 1]};
    index /= along;
  }
  return make_tile(plan_, ranges);
}

void TileGrid::for_each_run(
    const Tile& tile,
    const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& action) const {
  // Axes behind the last one that is cut are whole: they and that axis form one run.
  std::size_t cut = cuts_.size();
  std::uint64_t inner = 1;
  while (cut > 0 && tile.box[cut - 1].end - tile.box[cut - 1].begin == cuts_[cut - 1].back()) {
    inner *= cuts_[--cut].back();
  }
  if (cut == 0) return action(0, 0, inner);
  const std::size_t axis = cut - 1;
  const std::uint64_t run = (tile.box[axis].end - tile.box[axis].begin) * inner;
  std::uint64_t runs = 1;
  for (std::size_t i = 0; i < axis; ++i) runs *= tile.box[i].end - tile.box[i].begin;
  for (std::uint64_t number = 0; number < runs; ++number) {
    std::uint64_t rest = number, stride = inner * cuts_[axis].back();
    std::uint64_t begin = tile.box[axis].begin * inner;
    for (std::size_t i = axis; i-- > 0;) {
      const std::uint64_t count = tile.box[i].end - tile.box[i].begin;
      begin += (tile.box[i].begin + rest % count) * stride;
      rest /= count;
      stride *= cuts_[i].back();
    }
    action(begin, number * run, run);
  }
}

}  // namespace dmlop
