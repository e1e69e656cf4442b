// Tiles of joins: rows, which have a run of each part, and stretches of a row.
#include <algorithm>

#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// Elements of a part in a row.
std::uint64_t run_of(const JoinKernel& kernel, const IndexMapKernel& part) {
  return part.output_elements() / kernel.outer;
}

std::uint64_t row_of(const JoinKernel& kernel) {
  return kernel.output_elements() / kernel.outer;
}

// Calls action(part number, its columns in the range, counted from the part's first) for parts that
// have any.
template <typename Action>
void for_each_part(const JoinKernel& kernel, TileRange columns, Action&& action) {
  std::uint64_t start = 0;
  for (std::size_t i = 0; i < kernel.parts.size(); ++i) {
    const std::uint64_t end = start + run_of(kernel, kernel.parts[i]);
    const TileRange own{std::max(columns.begin, start), std::min(columns.end, end)};
    if (own.begin < own.end) action(i, TileRange{own.begin - start, own.end - start});
    start = end;
  }
}

// Whether a kernel can read the part as it lies in memory.
bool is_plain(const IndexMapKernel& part) {
  constexpr std::size_t axes_most = 8;
  return part.axes.size() <= axes_most &&
         std::all_of(part.axes.begin(), part.axes.end(), [](const IndexMapAxis& axis) {
           return axis.boundary == Boundary::none && axis.stride >= 0;
         });
}

}  // namespace

std::vector<std::uint64_t> extents_of(const JoinKernel& kernel) {
  return {kernel.outer, row_of(kernel)};
}

std::vector<std::size_t> input_element_sizes(const JoinKernel& kernel) {
  return std::vector(kernel.parts.size(), kernel.parts.front().element_size);
}

Needs needs_along(const JoinKernel& kernel, std::size_t axis, TileRange range) {
  const std::uint64_t extent = range.end - range.begin;
  if (axis == 0) return {extent, std::vector(kernel.parts.size(), extent)};
  Needs needs{extent, std::vector<std::uint64_t>(kernel.parts.size(), 1)};
  for_each_part(kernel, range, [&](std::size_t i, TileRange columns) {
    needs.inputs[i] = columns.end - columns.begin;
  });
  return needs;
}

// Rows are cut when there is one at a time, because axes are cut from the outermost on.
std::vector<std::uint64_t> cuts_of(const JoinKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool) {
  return even_cuts(extents_of(kernel)[axis], size);
}

Tile tile_of(const JoinKernel& kernel, const std::vector<TileRange>& box) {
  const std::uint64_t rows = box[0].end - box[0].begin;
  JoinKernel inner{.parts = {}, .outer = rows};
  Tile tile{{}, {}, box};
  for_each_part(kernel, box[1], [&](std::size_t i, TileRange columns) {
    const IndexMapKernel& part = kernel.parts[i];
    const std::uint64_t run = run_of(kernel, part);
    const std::uint64_t begin = box[0].begin * run + columns.begin;
    const std::uint64_t count = (rows - 1) * run + columns.end - columns.begin;
    tile.gathers.push_back({.map = part, .begin = begin, .end = begin + count, .input = i});
    inner.parts.push_back(
        {.element_size = part.element_size, .axes = {{.extent = count, .stride = 1}}});
  });
  tile.kernel = std::move(inner);
  return tile;
}

Tile whole_tile_of(const JoinKernel& kernel) {
  const std::vector<TileRange> box{{0, kernel.outer}, {0, row_of(kernel)}};
  if (!std::all_of(kernel.parts.begin(), kernel.parts.end(), is_plain)) return tile_of(kernel, box);
  JoinKernel inner = kernel;
  Tile tile{{}, {}, box};
  for (std::size_t i = 0; i < inner.parts.size(); ++i) {
    IndexMapKernel& part = inner.parts[i];
    Hull hull{.offset = part.offset};
    for (const IndexMapAxis& axis : part.axes) hull.extend(axis.stride, axis.extent);
    part.offset -= hull.offset;
    tile.gathers.push_back(hull.gather(part.element_size, i));
  }
  tile.kernel = std::move(inner);
  return tile;
}

}  // namespace dmlop::tiles
