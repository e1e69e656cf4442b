// Tiles of what is found under windows: a range of outputs needs the input under its windows.
// Axes that are interpolated, or go the other way, stay whole.
#include <algorithm>

#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

using Int = std::int64_t;

/// Scales and zero points, which have one value for each index of axis 1, or one for all.
struct ChannelValues {
  std::uint64_t* stride;
  std::size_t element_size;
};

std::vector<ChannelValues> channel_values(Requantization& of, DataType type) {
  std::vector<ChannelValues> found;
  const auto add_zero_point = [&](std::optional<std::uint64_t>& stride) {
    if (stride) found.push_back({&*stride, size_of(type)});
  };
  found.push_back({&of.input_scale_stride, sizeof(float)});
  add_zero_point(of.input_zero_point_stride);
  found.push_back({&of.output_scale_stride, sizeof(float)});
  add_zero_point(of.output_zero_point_stride);
  return found;
}

// Of a kernel that is not changed.
std::vector<std::pair<std::uint64_t, std::size_t>> channel_strides(const WindowKernel& kernel) {
  std::vector<std::pair<std::uint64_t, std::size_t>> found;
  if (!kernel.requantization) return found;
  Requantization of = *kernel.requantization;
  for (const ChannelValues& values : channel_values(of, kernel.data_type))
    found.emplace_back(*values.stride, values.element_size);
  return found;
}

bool is_one_to_one(const WindowAxis& axis) {
  const auto* windows = std::get_if<Windows>(&axis.reach);
  return windows != nullptr && windows->size == 1 && windows->stride == 1 &&
         windows->start_padding == 0 && axis.input_extent == axis.output_extent;
}

bool can_be_cut(const WindowAxis& axis) {
  return is_one_to_one(axis) ||
         (std::holds_alternative<Windows>(axis.reach) && !axis.is_transposed);
}

/// The input under output indices [begin, end) of an axis: all of it where the axis stays whole.
struct AxisBox {
  TileRange input;
  WindowAxis axis;  // of the tile; its input stride is left as it is
};

AxisBox axis_box(const WindowAxis& axis, TileRange range) {
  AxisBox box{{0, axis.input_extent}, axis};
  if (!can_be_cut(axis)) return box;
  auto& windows = std::get<Windows>(box.axis.reach);
  const Int reach = static_cast<Int>((windows.size - 1) * windows.dilation + 1);
  const Int padding = static_cast<Int>(windows.start_padding);
  const Int first = static_cast<Int>(range.begin * windows.stride) - padding;
  const Int last = static_cast<Int>((range.end - 1) * windows.stride) + reach - padding;
  const Int n = static_cast<Int>(axis.input_extent);
  const Int low = std::clamp<Int>(first, 0, n - 1);
  const Int high = std::clamp<Int>(last, low + 1, n);
  box.input = {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)};
  // Windows that all lie behind the input find as little in front of it.
  windows.start_padding = static_cast<std::uint64_t>(first <= low ? low - first : last - first);
  box.axis.input_extent = static_cast<std::uint64_t>(high - low);
  box.axis.output_extent = range.end - range.begin;
  return box;
}

std::vector<std::uint64_t> input_strides(const WindowKernel& kernel) {
  std::vector<std::uint64_t> strides;
  for (const WindowAxis& axis : kernel.axes) strides.push_back(axis.input_stride);
  return strides;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const WindowKernel& kernel) {
  std::vector<std::uint64_t> extents;
  for (const WindowAxis& axis : kernel.axes) extents.push_back(axis.output_extent);
  return extents;
}

std::vector<std::size_t> input_element_sizes(const WindowKernel& kernel) {
  std::vector<std::size_t> sizes{size_of(kernel.data_type)};
  for (const auto& [stride, size] : channel_strides(kernel)) sizes.push_back(size);
  return sizes;
}

Needs needs_along(const WindowKernel& kernel, std::size_t axis, TileRange range) {
  const TileRange input = axis_box(kernel.axes[axis], range).input;
  const std::uint64_t count = kernel.axes[axis].input_stride == 0 ? 1 : input.end - input.begin;
  Needs needs{range.end - range.begin, {count}};
  for (const auto& [stride, size] : channel_strides(kernel))
    needs.inputs.push_back(axis == 1 && stride != 0 ? needs.output : 1);
  return needs;
}

std::vector<std::uint64_t> cuts_of(const WindowKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool) {
  const WindowAxis& of = kernel.axes[axis];
  return even_cuts(of.output_extent, can_be_cut(of) ? size : of.output_extent);
}

Tile tile_of(const WindowKernel& kernel, const std::vector<TileRange>& box) {
  WindowKernel inner = kernel;
  std::vector<TileRange> input;
  for (std::size_t a = 0; a < box.size(); ++a) {
    AxisBox under = axis_box(kernel.axes[a], box[a]);
    inner.axes[a] = under.axis;
    input.push_back(under.input);
  }
  InputBox needed = input_box(input_strides(kernel), size_of(kernel.data_type), input, 0);
  for (std::size_t a = 0; a < box.size(); ++a) inner.axes[a].input_stride = needed.strides[a];
  Tile tile{{std::move(needed.gather)}, {}, box};
  if (inner.requantization) {
    for (const ChannelValues& values : channel_values(*inner.requantization, kernel.data_type)) {
      InputBox channels =
          input_box({*values.stride}, values.element_size, {box[1]}, tile.gathers.size());
      *values.stride = channels.strides.front();
      tile.gathers.push_back(std::move(channels.gather));
    }
  }
  tile.kernel = std::move(inner);
  return tile;
}

Tile whole_tile_of(const WindowKernel& kernel) {
  std::vector<std::uint64_t> extents;
  for (const WindowAxis& axis : kernel.axes) extents.push_back(axis.input_extent);
  Tile tile{{whole_input(input_strides(kernel), extents, size_of(kernel.data_type), 0)},
            kernel,
            whole_box(extents_of(kernel))};
  for (const auto& [stride, size] : channel_strides(kernel)) {
    tile.gathers.push_back(
        whole_input({stride}, {kernel.axes[1].output_extent}, size, tile.gathers.size()));
  }
  return tile;
}

}  // namespace dmlop::tiles
