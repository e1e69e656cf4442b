#include "ops/tiling.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "ops/index_map.hpp"
#include "ops/tiles.hpp"

namespace dmlop {
namespace tiles {

void Hull::extend(std::int64_t stride, std::uint64_t indices) {
  const std::int64_t reach = static_cast<std::int64_t>(indices - 1) * stride;
  offset += std::min<std::int64_t>(reach, 0);
  count += static_cast<std::uint64_t>(reach < 0 ? -reach : reach);
}

Gather Hull::gather(std::size_t element_size, std::size_t input) const {
  return whole_gather(
      {.element_size = element_size, .offset = offset, .axes = {{.extent = count, .stride = 1}}},
      input);
}

InputBox input_box(const std::vector<std::uint64_t>& strides, std::size_t element_size,
                   const std::vector<TileRange>& box, std::size_t input) {
  IndexMapKernel map{.element_size = element_size};
  InputBox found{{}, std::vector<std::uint64_t>(strides.size())};
  std::uint64_t packed = 1;
  for (std::size_t a = strides.size(); a-- > 0;) {
    const auto stride = static_cast<std::int64_t>(strides[a]);
    const std::uint64_t extent = stride == 0 ? 1 : box[a].end - box[a].begin;
    map.offset += static_cast<std::int64_t>(box[a].begin) * stride;
    map.axes.insert(map.axes.begin(), {.extent = extent, .stride = stride});
    found.strides[a] = stride == 0 ? 0 : packed;
    packed *= extent;
  }
  found.gather = whole_gather(simplified(std::move(map)), input);
  return found;
}

Gather whole_input(const std::vector<std::uint64_t>& strides,
                   const std::vector<std::uint64_t>& extents, std::size_t element_size,
                   std::size_t input) {
  Hull hull;
  for (std::size_t a = 0; a < extents.size(); ++a)
    hull.extend(static_cast<std::int64_t>(strides[a]), extents[a]);
  return hull.gather(element_size, input);
}

std::vector<std::size_t> element_sizes_of(const StridedInputs& inputs) {
  std::vector<std::size_t> sizes;
  for (const StridedInput& input : inputs) sizes.push_back(input.element_size);
  return sizes;
}

Needs needs_along(const StridedInputs& inputs, std::size_t axis, TileRange range) {
  Needs needs{range.end - range.begin, {}};
  for (const StridedInput& input : inputs)
    needs.inputs.push_back(input.strides[axis] == 0 ? 1 : needs.output);
  return needs;
}

std::vector<InputBox> boxes_of(const StridedInputs& inputs, const std::vector<TileRange>& box) {
  std::vector<InputBox> boxes;
  for (const StridedInput& input : inputs)
    boxes.push_back(input_box(input.strides, input.element_size, box, boxes.size()));
  return boxes;
}

std::vector<Gather> whole_gathers(const StridedInputs& inputs,
                                  const std::vector<std::uint64_t>& extents) {
  std::vector<Gather> gathers;
  for (const StridedInput& input : inputs)
    gathers.push_back(whole_input(input.strides, extents, input.element_size, gathers.size()));
  return gathers;
}

std::vector<TileRange> whole_box(const std::vector<std::uint64_t>& extents) {
  std::vector<TileRange> box;
  for (const std::uint64_t extent : extents) box.push_back({0, extent});
  return box;
}

std::vector<std::uint64_t> even_cuts(std::uint64_t extent, std::uint64_t size) {
  std::vector<std::uint64_t> cuts;
  for (std::uint64_t at = 0; at < extent; at += size) cuts.push_back(at);
  cuts.push_back(extent);
  return cuts;
}

}  // namespace tiles

namespace {

// Calls the action with the kernel as a kind that has tiles. Errors: std::logic_error for others.
template <typename Action>
auto visit_tiled(const Kernel& kernel, Action&& action) {
  using Result = std::invoke_result_t<Action&, const IndexMapKernel&>;
  return std::visit(
      [&]<typename Kind>(const Kind& kind) -> Result {
        if constexpr (tiles::Tiled<Kind>) {
          return action(kind);
        } else {
          throw std::logic_error("a kernel of this kind has no tiles");
        }
      },
      kernel);
}

std::vector<std::uint64_t> kernel_extents(const Kernel& kernel) {
  return visit_tiled(kernel, [](const auto& kind) { return tiles::extents_of(kind); });
}

bool fits(std::uint64_t elements, std::size_t element_size, const TileLimits& limits) {
  return elements <= limits.buffer_elements && elements <= limits.buffer_bytes / element_size;
}

bool fits(const Tile& tile, const TileLimits& limits) {
  const auto gather_fits = [&](const Gather& gather) {
    return fits(gather.elements(), gather.map.element_size, limits);
  };
  return fits(output_elements(tile.kernel), output_element_size(tile.kernel), limits) &&
         std::all_of(tile.gathers.begin(), tile.gathers.end(), gather_fits);
}

/// Finds the cuts of all axes: outermost first, so that a tile's outputs lie together. An axis is
/// cut only while that makes a buffer smaller which is too large: the rows of a product are not cut
/// because the right matrix is large.
class Cutter {
 public:
  Cutter(const Kernel& kernel, const TileLimits& limits)
      : kernel_(kernel), limits_(limits), extents_(kernel_extents(kernel)) {
    input_sizes_ =
        visit_tiled(kernel, [](const auto& kind) { return tiles::input_element_sizes(kind); });
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      cuts_.emplace_back();
      needs_.emplace_back();
      cut(axis, {0, extents_[axis]});
    }
  }

  std::optional<std::vector<std::vector<std::uint64_t>>> run() {
    for (std::size_t axis = 0; axis < extents_.size() && !all_fit(); ++axis) {
      const bool inputs_fit = this->inputs_fit();
      for (std::uint64_t size = extents_[axis]; size > 1 && has_misfit_along(axis);) {
        size = (size + 1) / 2;
        cut(axis, visit_tiled(kernel_, [&](const auto& kind) {
              return tiles::cuts_of(kind, axis, size, inputs_fit);
            }));
      }
    }
    return all_fit() ? std::optional(cuts_) : std::nullopt;
  }

  /// Bytes of the inputs that all tiles need, over those that are needed by one tile of everything.
  double copies() const {
    double all = 0, once = 0;
    for (std::size_t k = 0; k < input_sizes_.size(); ++k) {
      auto of_tiles = static_cast<double>(input_sizes_[k]), of_one = of_tiles;
      for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
        double along = 0;
        for (std::size_t i = 0; i + 1 < cuts_[axis].size(); ++i)
          along +=
              static_cast<double>(needs_of(axis, {cuts_[axis][i], cuts_[axis][i + 1]}).inputs[k]);
        of_tiles *= along;
        of_one *= static_cast<double>(needs_of(axis, {0, extents_[axis]}).inputs[k]);
      }
      all += of_tiles;
      once += of_one;
    }
    return once == 0 ? 1 : all / once;
  }

 private:
  // The grid holds every combination of the axes' ranges, so the largest needs of each axis meet.
  void cut(std::size_t axis, std::vector<std::uint64_t> cuts) {
    tiles::Needs largest{1, std::vector<std::uint64_t>(input_sizes_.size(), 1)};
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const tiles::Needs needs = needs_of(axis, {cuts[i], cuts[i + 1]});
      largest.output = std::max(largest.output, needs.output);
      for (std::size_t k = 0; k < largest.inputs.size(); ++k)
        largest.inputs[k] = std::max(largest.inputs[k], needs.inputs[k]);
    }
    needs_[axis] = std::move(largest);
    cuts_[axis] = std::move(cuts);
  }

  tiles::Needs needs_of(std::size_t axis, TileRange range) const {
    return visit_tiled(kernel_,
                       [&](const auto& kind) { return tiles::needs_along(kind, axis, range); });
  }

  // Whether a buffer fits that has so many elements along each axis.
  template <typename Along>
  bool product_fits(std::size_t element_size, Along&& along) const {
    std::uint64_t left =
        std::min<std::uint64_t>(limits_.buffer_elements, limits_.buffer_bytes / element_size);
    for (const tiles::Needs& needs : needs_) left /= along(needs);
    return left > 0;
  }

  bool input_fits(std::size_t k) const {
    return product_fits(input_sizes_[k],
                        [k](const tiles::Needs& needs) { return needs.inputs[k]; });
  }

  bool output_fits() const {
    return product_fits(output_element_size(kernel_),
                        [](const tiles::Needs& needs) { return needs.output; });
  }

  bool inputs_fit() const {
    for (std::size_t k = 0; k < input_sizes_.size(); ++k) {
      if (!input_fits(k)) return false;
    }
    return true;
  }

  bool all_fit() const { return inputs_fit() && output_fits(); }

  // Whether a buffer is too large that has fewer elements for one index of the axis than for all.
  bool has_misfit_along(std::size_t axis) const {
    if (!output_fits()) return true;
    const tiles::Needs all = needs_of(axis, {0, extents_[axis]}), one = needs_of(axis, {0, 1});
    for (std::size_t k = 0; k < input_sizes_.size(); ++k) {
      if (one.inputs[k] < all.inputs[k] && !input_fits(k)) return true;
    }
    return false;
  }

  const Kernel& kernel_;
  const TileLimits& limits_;
  std::vector<std::uint64_t> extents_;
  std::vector<std::size_t> input_sizes_;
  std::vector<std::vector<std::uint64_t>> cuts_;
  std::vector<tiles::Needs> needs_;  // per axis, the largest of its ranges
};

Tile whole_tile(const Kernel& kernel) {
  return visit_tiled(kernel, [](const auto& kind) { return tiles::whole_tile_of(kind); });
}

}  // namespace

Gather whole_gather(IndexMapKernel map, std::size_t input) {
  const std::uint64_t elements = map.output_elements();
  return {.map = std::move(map), .begin = 0, .end = elements, .input = input};
}

bool has_tiles(const Kernel& kernel) {
  return std::visit([]<typename Kind>(const Kind&) { return tiles::Tiled<Kind>; }, kernel);
}

std::optional<TileGrid> TileGrid::make(const Kernel& kernel, const TileLimits& limits) {
  if (!has_tiles(kernel)) return std::nullopt;
  TileGrid grid;
  grid.kernel_ = kernel;
  if (fits(whole_tile(kernel), limits)) {
    for (const std::uint64_t extent : kernel_extents(kernel)) grid.cuts_.push_back({0, extent});
    grid.whole_ = true;
    return grid;
  }
  Cutter cutter(kernel, limits);
  auto cuts = cutter.run();
  if (!cuts) return std::nullopt;
  grid.copies_ = cutter.copies();
  grid.cuts_ = std::move(*cuts);
  for (const auto& along : grid.cuts_) grid.count_ *= along.size() - 1;
  return grid;
}

Tile TileGrid::tile(std::uint64_t index) const {
  if (whole_) return whole_tile(kernel_);
  std::vector<TileRange> ranges(cuts_.size());
  for (std::size_t i = cuts_.size(); i-- > 0;) {
    const std::uint64_t along = cuts_[i].size() - 1;
    ranges[i] = {cuts_[i][index % along], cuts_[i][index % along + 1]};
    index /= along;
  }
  return visit_tiled(kernel_, [&](const auto& kind) { return tiles::tile_of(kind, ranges); });
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
