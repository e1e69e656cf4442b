// Tiles of reductions: an output needs its whole row of each operand.
#include <algorithm>

#include "ops/tiles.hpp"

namespace dmlop::tiles {
namespace {

// Calls action(operand, number) for the operands that have a buffer; they are numbered.
template <typename Kernel, typename Action>
void for_each_read_operand(Kernel& kernel, Action&& action) {
  std::size_t number = 0;
  for (auto& operand : kernel.operands) {
    if (!operand.is_position) action(operand, number++);
  }
}

// Elements of an operand's row: a stride of 0 repeats one.
std::uint64_t row_elements(const ReduceKernel& kernel, const ReduceOperand& operand) {
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
  std::vector<std::size_t> sizes;
  for_each_read_operand(kernel, [&](const ReduceOperand& operand, std::size_t) {
    sizes.push_back(size_of(operand.data_type));
  });
  return sizes;
}

// The rows count with the first axis.
Needs needs_along(const ReduceKernel& kernel, std::size_t axis, TileRange range) {
  Needs needs{range.end - range.begin, {}};
  for_each_read_operand(kernel, [&](const ReduceOperand& operand, std::size_t) {
    const std::uint64_t along = operand.strides[axis] == 0 ? 1 : needs.output;
    needs.inputs.push_back(axis == 0 ? along * row_elements(kernel, operand) : along);
  });
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
  for_each_read_operand(inner, [&](ReduceOperand& operand, std::size_t number) {
    InputBox needed = input_box(operand.strides, size_of(operand.data_type), rows, number);
    operand.strides = std::move(needed.strides);
    tile.gathers.push_back(std::move(needed.gather));
  });
  tile.kernel = std::move(inner);
  return tile;
}

Tile whole_tile_of(const ReduceKernel& kernel) {
  Tile tile{{}, kernel, whole_box(extents_of(kernel))};
  for_each_read_operand(kernel, [&](const ReduceOperand& operand, std::size_t number) {
    tile.gathers.push_back(
        whole_input(operand.strides, kernel.extents, size_of(operand.data_type), number));
  });
  return tile;
}

}  // namespace dmlop::tiles
