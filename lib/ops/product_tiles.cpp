// Tiles of products: some batches and rows, and columns that are no positions of windows. Sums stay
// whole. Of scales and zero points, which are small, a tile gets all.
#include <algorithm>

#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// Calls action(input, number) for the inputs behind left and right; both scales may be one input.
template <typename Kernel, typename Action>
void for_each_further_input(Kernel& kernel, Action&& action) {
  std::size_t number = 2;
  const auto add_if = [&](auto& input) {
    if (input) action(*input, number++);
  };
  add_if(kernel.left_zero);
  add_if(kernel.right_zero);
  add_if(kernel.left_scale);
  if (kernel.has_joined_scales) --number;
  add_if(kernel.right_scale);
  add_if(kernel.added);
  if (!kernel.quantization) return;
  action(kernel.quantization->scale, number++);
  add_if(kernel.quantization->zero_point);
}

bool is_added(const ProductKernel& kernel, const ProductInput& input) {
  return kernel.added && &*kernel.added == &input;
}

// A box of outputs by batches, rows and columns: the positions of all windows count as columns.
std::vector<TileRange> by_columns(const ProductKernel& kernel, std::vector<TileRange> box) {
  if (!kernel.windows.empty()) {
    box.resize(kernel.batches.size() + 1);
    box.push_back({0, kernel.column_count()});
  }
  return box;
}

/// An input or matrix with a stride for each axis, and which of its indices a box needs.
struct StridedBox {
  std::vector<std::uint64_t> strides = {};
  std::vector<TileRange> box = {};

  void add(std::uint64_t stride, TileRange range) {
    strides.push_back(stride);
    box.push_back(range);
  }
  /// Elements behind `offset` that it reads, those between them included.
  TileRange reach(std::uint64_t offset) const {
    TileRange found{offset, offset + 1};
    for (std::size_t i = 0; i < box.size(); ++i) found.end += (box[i].end - 1) * strides[i];
    return found;
  }
};

// Of an input that has an element for each output.
StridedBox output_box(const ProductKernel& kernel, const ProductInput& input,
                      const std::vector<TileRange>& box) {
  std::vector<std::uint64_t> strides = input.batch_strides;
  strides.push_back(input.row_stride);
  strides.push_back(input.column_stride);
  return {std::move(strides), by_columns(kernel, box)};
}

TileRange reach_of(const ProductKernel& kernel, const ProductInput& input) {
  return output_box(kernel, input, whole_box(extents_of(kernel))).reach(input.offset);
}

// Of all that are one input.
std::vector<TileRange> further_reaches(const ProductKernel& kernel) {
  std::vector<TileRange> reaches;
  for_each_further_input(kernel, [&](const ProductInput& input, std::size_t number) {
    const TileRange reach = reach_of(kernel, input);
    if (number - 2 == reaches.size()) return reaches.push_back(reach);
    TileRange& both = reaches[number - 2];
    both = {std::min(both.begin, reach.begin), std::max(both.end, reach.end)};
  });
  return reaches;
}

Gather elements(TileRange range, std::size_t element_size, std::size_t input) {
  return whole_gather({.element_size = element_size,
                       .offset = static_cast<std::int64_t>(range.begin),
                       .axes = {{.extent = range.end - range.begin, .stride = 1}}},
                      input);
}

StridedBox left_box(const ProductKernel& kernel, const std::vector<TileRange>& box) {
  const std::size_t batches = kernel.batches.size();
  StridedBox left;
  for (std::size_t i = 0; i < batches; ++i) left.add(kernel.left.batch_strides[i], box[i]);
  left.add(kernel.left.row_stride, box[batches]);
  left.add(kernel.left_depth_stride, {0, kernel.depth});
  for (const ProductWindow& window : kernel.windows) left.add(window.left_stride, {0, window.taps});
  return left;
}

StridedBox right_box(const ProductKernel& kernel, const std::vector<TileRange>& box) {
  const std::size_t batches = kernel.batches.size();
  StridedBox right;
  for (std::size_t i = 0; i < batches; ++i) right.add(kernel.right.batch_strides[i], box[i]);
  right.add(kernel.right_depth_stride, {0, kernel.depth});
  if (kernel.windows.empty()) right.add(kernel.right.column_stride, box[batches + 1]);
  for (const ProductWindow& window : kernel.windows)
    right.add(window.input_stride, {0, window.input_extent});
  return right;
}

// A copy of what the box needs, in the order in which it lies in memory, and its strides.
InputBox copy_of(const StridedBox& matrix, const ProductInput& input, std::size_t number) {
  std::vector<std::size_t> order(matrix.strides.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return matrix.strides[a] > matrix.strides[b];
  });
  StridedBox sorted;
  for (const std::size_t i : order) sorted.add(matrix.strides[i], matrix.box[i]);
  InputBox copy = input_box(sorted.strides, size_of(input.data_type), sorted.box, number);
  copy.gather.map.offset += static_cast<std::int64_t>(input.offset);
  std::vector<std::uint64_t> strides(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) strides[order[i]] = copy.strides[i];
  copy.strides = std::move(strides);
  return copy;
}

void set_left(ProductKernel& kernel, const std::vector<std::uint64_t>& strides) {
  auto next = strides.begin();
  for (std::uint64_t& stride : kernel.left.batch_strides) stride = *next++;
  kernel.left.row_stride = *next++;
  kernel.left_depth_stride = *next++;
  for (ProductWindow& window : kernel.windows) window.left_stride = *next++;
  kernel.left.offset = 0;
}

void set_right(ProductKernel& kernel, const std::vector<std::uint64_t>& strides) {
  auto next = strides.begin();
  for (std::uint64_t& stride : kernel.right.batch_strides) stride = *next++;
  kernel.right_depth_stride = *next++;
  if (kernel.windows.empty()) kernel.right.column_stride = *next;
  for (ProductWindow& window : kernel.windows) window.input_stride = *next++;
  kernel.right.offset = 0;
}

void set_added(ProductKernel& kernel, const std::vector<std::uint64_t>& strides) {
  std::copy_n(strides.begin(), kernel.batches.size(), kernel.added->batch_strides.begin());
  kernel.added->row_stride = strides[kernel.batches.size()];
  kernel.added->column_stride = strides.back();
  kernel.added->offset = 0;
}

std::uint64_t elements_along(std::uint64_t stride, std::uint64_t extent) {
  return stride == 0 ? 1 : extent;
}

// Of a matrix along the axes that are never cut.
std::uint64_t elements_in(const StridedBox& matrix, std::size_t from) {
  std::uint64_t count = 1;
  for (std::size_t i = from; i < matrix.box.size(); ++i)
    count *= elements_along(matrix.strides[i], matrix.box[i].end - matrix.box[i].begin);
  return count;
}

// Of the added input. The positions of windows count with the first of them.
std::uint64_t added_along(const ProductKernel& kernel, std::size_t axis, std::uint64_t extent) {
  const ProductInput& added = *kernel.added;
  const std::size_t batches = kernel.batches.size();
  if (axis < batches) return elements_along(added.batch_strides[axis], extent);
  if (axis == batches) return elements_along(added.row_stride, extent);
  if (axis > batches + 1) return 1;
  return elements_along(added.column_stride,
                        kernel.windows.empty() ? extent : kernel.column_count());
}

}  // namespace

std::vector<std::uint64_t> extents_of(const ProductKernel& kernel) {
  std::vector<std::uint64_t> extents = kernel.batches;
  extents.push_back(kernel.rows);
  if (kernel.windows.empty()) extents.push_back(kernel.columns);
  for (const ProductWindow& window : kernel.windows) extents.push_back(window.output_extent);
  return extents;
}

std::vector<std::size_t> input_element_sizes(const ProductKernel& kernel) {
  std::vector<std::size_t> sizes{size_of(kernel.left.data_type), size_of(kernel.right.data_type)};
  for_each_further_input(kernel, [&](const ProductInput& input, std::size_t number) {
    sizes.resize(number + 1, size_of(input.data_type));
  });
  return sizes;
}

// What no axis cuts counts with the first one.
Needs needs_along(const ProductKernel& kernel, std::size_t axis, TileRange range) {
  const std::size_t batches = kernel.batches.size();
  const std::uint64_t extent = range.end - range.begin;
  Needs needs{extent, {1, 1}};
  if (axis <= batches) {
    const bool is_batch = axis < batches;
    needs.inputs[0] =
        elements_along(is_batch ? kernel.left.batch_strides[axis] : kernel.left.row_stride, extent);
    if (is_batch) needs.inputs[1] = elements_along(kernel.right.batch_strides[axis], extent);
  } else if (kernel.windows.empty()) {
    needs.inputs[1] = elements_along(kernel.right.column_stride, extent);
  }
  if (axis == 0) {
    const std::vector<TileRange> whole = whole_box(extents_of(kernel));
    needs.inputs[0] *= elements_in(left_box(kernel, whole), batches + 1);
    StridedBox right = right_box(kernel, whole);
    if (kernel.windows.empty()) right.box.back() = {0, 1};
    needs.inputs[1] *= elements_in(right, batches);
  }
  const std::vector<TileRange> reaches = further_reaches(kernel);
  needs.inputs.resize(2 + reaches.size(), 1);
  for_each_further_input(kernel, [&](const ProductInput& input, std::size_t number) {
    const TileRange& reach = reaches[number - 2];
    if (is_added(kernel, input)) {
      needs.inputs[number] = added_along(kernel, axis, extent);
    } else if (axis == 0) {
      needs.inputs[number] = reach.end - reach.begin;
    }
  });
  return needs;
}

std::vector<std::uint64_t> cuts_of(const ProductKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool) {
  const std::uint64_t extent = extents_of(kernel)[axis];
  const bool is_of_windows = axis > kernel.batches.size() && !kernel.windows.empty();
  return even_cuts(extent, is_of_windows ? extent : size);
}

Tile tile_of(const ProductKernel& kernel, const std::vector<TileRange>& box) {
  const std::size_t batches = kernel.batches.size();
  ProductKernel inner = kernel;
  for (std::size_t i = 0; i < batches; ++i) inner.batches[i] = box[i].end - box[i].begin;
  inner.rows = box[batches].end - box[batches].begin;
  if (kernel.windows.empty()) inner.columns = box[batches + 1].end - box[batches + 1].begin;
  InputBox left = copy_of(left_box(kernel, box), kernel.left, 0);
  InputBox right = copy_of(right_box(kernel, box), kernel.right, 1);
  set_left(inner, left.strides);
  set_right(inner, right.strides);
  Tile tile{{std::move(left.gather), std::move(right.gather)}, {}, box};
  const std::vector<TileRange> reaches = further_reaches(kernel);
  for_each_further_input(inner, [&](ProductInput& input, std::size_t number) {
    const StridedBox needed = output_box(kernel, input, box);
    if (is_added(inner, input)) {
      InputBox added = copy_of(needed, input, number);
      set_added(inner, added.strides);
      return tile.gathers.push_back(std::move(added.gather));
    }
    if (number == tile.gathers.size())
      tile.gathers.push_back(elements(reaches[number - 2], size_of(input.data_type), number));
    input.offset -= reaches[number - 2].begin;
    for (std::size_t a = 0; a < needed.box.size(); ++a)
      input.offset += needed.box[a].begin * needed.strides[a];
  });
  tile.kernel = std::move(inner);
  return tile;
}

Tile whole_tile_of(const ProductKernel& kernel) {
  ProductKernel inner = kernel;
  Tile tile{{}, {}, whole_box(extents_of(kernel))};
  const auto add_matrix = [&](const StridedBox& matrix, ProductInput& input, std::size_t number) {
    const TileRange reach = matrix.reach(input.offset);
    tile.gathers.push_back(elements(reach, size_of(input.data_type), number));
    input.offset = 0;
  };
  add_matrix(left_box(kernel, tile.box), inner.left, 0);
  add_matrix(right_box(kernel, tile.box), inner.right, 1);
  const std::vector<TileRange> reaches = further_reaches(kernel);
  for_each_further_input(inner, [&](ProductInput& input, std::size_t number) {
    const TileRange& reach = reaches[number - 2];
    if (number == tile.gathers.size())
      tile.gathers.push_back(elements(reach, size_of(input.data_type), number));
    input.offset -= reach.begin;
  });
  tile.kernel = std::move(inner);
  return tile;
}

}  // namespace dmlop::tiles
