// Tiles of element-wise computation: a box of outputs needs the same box of each input.
#include "ops/element_wise.hpp"
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// Calls action(input, number) for the inputs that have a buffer; they are numbered.
template <typename Kernel, typename Action>
void for_each_buffer(Kernel& kernel, Action&& action) {
  std::size_t number = 0;
  for (auto& input : kernel.inputs) {
    if (!input.constant) action(input, number++);
  }
}

}  // namespace

std::vector<std::uint64_t> extents_of(const ElementWiseKernel& kernel) {
  return kernel.extents;
}

std::vector<std::size_t> input_element_sizes(const ElementWiseKernel& kernel) {
  std::vector<std::size_t> sizes;
  for_each_buffer(kernel, [&](const ElementWiseInput& input, std::size_t) {
    sizes.push_back(size_of(input.type));
  });
  return sizes;
}

Needs needs_along(const ElementWiseKernel& kernel, std::size_t axis, TileRange range) {
  Needs needs{range.end - range.begin, {}};
  for_each_buffer(kernel, [&](const ElementWiseInput& input, std::size_t) {
    needs.inputs.push_back(input.strides[axis] == 0 ? 1 : needs.output);
  });
  return needs;
}

std::vector<std::uint64_t> cuts_of(const ElementWiseKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool) {
  return even_cuts(kernel.extents[axis], size);
}

Tile tile_of(const ElementWiseKernel& kernel, const std::vector<TileRange>& box) {
  ElementWiseKernel inner = kernel;
  for (std::size_t a = 0; a < box.size(); ++a) inner.extents[a] = box[a].end - box[a].begin;
  Tile tile{{}, {}, box};
  for_each_buffer(inner, [&](ElementWiseInput& input, std::size_t number) {
    InputBox needed = input_box(input.strides, size_of(input.type), box, number);
    input.strides = std::move(needed.strides);
    tile.gathers.push_back(std::move(needed.gather));
  });
  tile.kernel = merged(std::move(inner));
  return tile;
}

Tile whole_tile_of(const ElementWiseKernel& kernel) {
  Tile tile{{}, kernel, whole_box(kernel.extents)};
  for_each_buffer(kernel, [&](const ElementWiseInput& input, std::size_t number) {
    tile.gathers.push_back(whole_input(input.strides, kernel.extents, size_of(input.type), number));
  });
  return tile;
}

}  // namespace dmlop::tiles
