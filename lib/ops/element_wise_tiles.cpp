// Tiles of element-wise computation: a box of outputs needs the same box of each input.
#include "ops/element_wise.hpp"
#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

StridedInputs inputs_with_buffers(const ElementWiseKernel& kernel) {
  StridedInputs inputs;
  for (const ElementWiseInput& input : kernel.inputs) {
    if (!input.constant) inputs.push_back({input.strides, size_of(input.type)});
  }
  return inputs;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const ElementWiseKernel& kernel) {
  return kernel.extents;
}

std::vector<std::size_t> input_element_sizes(const ElementWiseKernel& kernel) {
  return element_sizes_of(inputs_with_buffers(kernel));
}

Needs needs_along(const ElementWiseKernel& kernel, std::size_t axis, TileRange range) {
  return needs_along(inputs_with_buffers(kernel), axis, range);
}

std::vector<std::uint64_t> cuts_of(const ElementWiseKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool) {
  return even_cuts(kernel.extents[axis], size);
}

Tile tile_of(const ElementWiseKernel& kernel, const std::vector<TileRange>& box) {
  ElementWiseKernel inner = kernel;
  for (std::size_t a = 0; a < box.size(); ++a) inner.extents[a] = box[a].end - box[a].begin;
  Tile tile{{}, {}, box};
  std::vector<InputBox> needed = boxes_of(inputs_with_buffers(kernel), box);
  for (ElementWiseInput& input : inner.inputs) {
    if (input.constant) continue;
    InputBox& of_input = needed[tile.gathers.size()];
    input.strides = std::move(of_input.strides);
    tile.gathers.push_back(std::move(of_input.gather));
  }
  tile.kernel = merged(std::move(inner));
  return tile;
}

Tile whole_tile_of(const ElementWiseKernel& kernel) {
  return {whole_gathers(inputs_with_buffers(kernel), kernel.extents), kernel,
          whole_box(kernel.extents)};
}

}  // namespace dmlop::tiles
