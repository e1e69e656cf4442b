// Tiles of normalized rows: axes along which rows lie stay whole.
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// Calls action(input, number) for the inputs that have a buffer; they are numbered.
template <typename Kernel, typename Action>
void for_each_read_tensor(Kernel& kernel, Action&& action) {
  std::size_t number = 0;
  for (auto* input : {&kernel.input, &kernel.scale, &kernel.bias}) {
    if (!input->constant) action(*input, number++);
  }
}

}  // namespace

std::vector<std::uint64_t> extents_of(const RowsKernel& kernel) {
  return kernel.shape.sizes;
}

std::vector<std::size_t> input_element_sizes(const RowsKernel& kernel) {
  std::vector<std::size_t> sizes;
  for_each_read_tensor(kernel, [&](const ElementWiseInput& input, std::size_t) {
    sizes.push_back(size_of(input.type));
  });
  return sizes;
}

Needs needs_along(const RowsKernel& kernel, std::size_t axis, TileRange range) {
  Needs needs{range.end - range.begin, {}};
  for_each_read_tensor(kernel, [&](const ElementWiseInput& input, std::size_t) {
    needs.inputs.push_back(input.strides[axis] == 0 ? 1 : needs.output);
  });
  return needs;
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
  for_each_read_tensor(inner, [&](ElementWiseInput& input, std::size_t number) {
    InputBox needed = input_box(input.strides, size_of(input.type), box, number);
    input.strides = std::move(needed.strides);
    tile.gathers.push_back(std::move(needed.gather));
  });
  tile.kernel = std::move(inner);
  return tile;
}

Tile whole_tile_of(const RowsKernel& kernel) {
  Tile tile{{}, kernel, whole_box(kernel.shape.sizes)};
  for_each_read_tensor(kernel, [&](const ElementWiseInput& input, std::size_t number) {
    tile.gathers.push_back(
        whole_input(input.strides, kernel.shape.sizes, size_of(input.type), number));
  });
  return tile;
}

}  // namespace dmlop::tiles
