// Tiles of normalized rows: axes along which rows lie stay whole.
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

StridedInputs tensors_of_rows(const RowsKernel& kernel) {
  StridedInputs tensors;
  for (const ElementWiseInput* input : {&kernel.input, &kernel.scale, &kernel.bias}) {
    if (!input->constant) tensors.push_back({input->strides, size_of(input->type)});
  }
  return tensors;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const RowsKernel& kernel) {
  return kernel.shape.sizes;
}

std::vector<std::size_t> input_element_sizes(const RowsKernel& kernel) {
  return element_sizes_of(tensors_of_rows(kernel));
}

Needs needs_along(const RowsKernel& kernel, std::size_t axis, TileRange range) {
  return needs_along(tensors_of_rows(kernel), axis, range);
}

std::vector<std::uint64_t> cuts_of(const RowsKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool) {
  const std::uint64_t extent = kernel.shape.sizes[axis];
  return even_cuts(extent, kernel.shape.is_reduced[axis] ? extent : size);
}

Tile tile_of(const RowsKernel& kernel, const std::vector<TileRange>& box) {
  RowsKernel inner = kernel;
  for (std::size_t a = 0; a < box.size(); ++a) inner.shape.sizes[a] = box[a].end - box[a].begin;
  Tile tile{{}, {}, box};
  std::vector<InputBox> needed = boxes_of(tensors_of_rows(kernel), box);
  for (ElementWiseInput* input : {&inner.input, &inner.scale, &inner.bias}) {
    if (input->constant) continue;
    InputBox& of_input = needed[tile.gathers.size()];
    input->strides = std::move(of_input.strides);
    tile.gathers.push_back(std::move(of_input.gather));
  }
  tile.kernel = std::move(inner);
  return tile;
}

Tile whole_tile_of(const RowsKernel& kernel) {
  const Sizes& sizes = kernel.shape.sizes;
  return {whole_gathers(tensors_of_rows(kernel), sizes), kernel, whole_box(sizes)};
}

}  // namespace dmlop::tiles
