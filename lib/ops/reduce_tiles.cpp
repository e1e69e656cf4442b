// Tiles of reductions: an output needs its whole row of each operand.
#include <algorithm>

#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// Of the operands that have a buffer.
StridedInputs operands_of(const ReduceKernel& kernel) {
  StridedInputs operands;
  for (const ReduceOperand& operand : kernel.operands) {
    if (!operand.is_position) operands.push_back({operand.strides, size_of(operand.data_type)});
  }
  return operands;
}

// Elements of an operand's row: a stride of 0 repeats one.
std::uint64_t row_elements(const ReduceKernel& kernel, const StridedInput& operand) {
  std::uint64_t elements = 1;
  for (std::size_t a = kernel.kept; a < kernel.extents.size(); ++a)
    elements *= operand.strides[a] == 0 ? 1 : kernel.extents[a];
  return elements;
}

}  // namespace

std::vector<std::uint64_t> extents_of(const ReduceKernel& kernel) {
  return {kernel.extents.begin(),
          kernel.extents.begin() + static_cast<std::ptrdiff_t>(kernel.kept)};
}

std::vector<std::size_t> input_element_sizes(const ReduceKernel& kernel) {
  return element_sizes_of(operands_of(kernel));
}

// The rows count with the first axis.
Needs needs_along(const ReduceKernel& kernel, std::size_t axis, TileRange range) {
  const StridedInputs operands = operands_of(kernel);
  Needs needs = needs_along(operands, axis, range);
  for (std::size_t k = 0; axis == 0 && k < operands.size(); ++k)
    needs.inputs[k] *= row_elements(kernel, operands[k]);
  return needs;
}

// Positions count from the first element of the whole.
std::vector<std::uint64_t> cuts_of(const ReduceKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool) {
  const bool has_positions_along = std::any_of(
      kernel.operands.begin(), kernel.operands.end(), [&](const ReduceOperand& operand) {
        return operand.is_position && operand.strides[axis] != 0;
      });
  const std::uint64_t extent = kernel.extents[axis];
  return even_cuts(extent, has_positions_along ? extent : size);
}

Tile tile_of(const ReduceKernel& kernel, const std::vector<TileRange>& box) {
  ReduceKernel inner = kernel;
  std::vector<TileRange> rows = whole_box(kernel.extents);
  std::copy(box.begin(), box.end(), rows.begin());
  for (std::size_t a = 0; a < box.size(); ++a) inner.extents[a] = box[a].end - box[a].begin;
  Tile tile{{}, {}, box};
  std::vector<InputBox> needed = boxes_of(operands_of(kernel), rows);
  for (ReduceOperand& operand : inner.operands) {
    if (operand.is_position) continue;
    InputBox& of_operand = needed[tile.gathers.size()];
    operand.strides = std::move(of_operand.strides);
    tile.gathers.push_back(std::move(of_operand.gather));
  }
  tile.kernel = std::move(inner);
  return tile;
}

Tile whole_tile_of(const ReduceKernel& kernel) {
  return {whole_gathers(operands_of(kernel), kernel.extents), kernel,
          whole_box(extents_of(kernel))};
}

}  // namespace dmlop::tiles
