// What tiling asks a kind of kernel: one overload per kind of each question. A kind that answers
// the first one and forgets another does not compile. Kinds that answer none are never cut.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/tiling.hpp"

namespace dmlop::tiles {

/// Elements of a tile's buffers along one axis; a buffer's size is the product over all axes.
struct Needs {
  std::uint64_t output = 1;
  std::vector<std::uint64_t> inputs;  // in the kernel's order
};

/// The extents of the axes of the kernel's outputs.
std::vector<std::uint64_t> extents_of(const IndexMapKernel& kernel);
std::vector<std::uint64_t> extents_of(const JoinKernel& kernel);
std::vector<std::uint64_t> extents_of(const ElementWiseKernel& kernel);
std::vector<std::uint64_t> extents_of(const ProductKernel& kernel);
std::vector<std::uint64_t> extents_of(const ReduceKernel& kernel);
std::vector<std::uint64_t> extents_of(const RowsKernel& kernel);
std::vector<std::uint64_t> extents_of(const ScanKernel& kernel);
std::vector<std::uint64_t> extents_of(const WindowKernel& kernel);

/// The bytes of an element of each input.
std::vector<std::size_t> input_element_sizes(const IndexMapKernel& kernel);
std::vector<std::size_t> input_element_sizes(const JoinKernel& kernel);
std::vector<std::size_t> input_element_sizes(const ElementWiseKernel& kernel);
std::vector<std::size_t> input_element_sizes(const ProductKernel& kernel);
std::vector<std::size_t> input_element_sizes(const ReduceKernel& kernel);
std::vector<std::size_t> input_element_sizes(const RowsKernel& kernel);
std::vector<std::size_t> input_element_sizes(const ScanKernel& kernel);
std::vector<std::size_t> input_element_sizes(const WindowKernel& kernel);

/// What output indices `range` of one axis need.
Needs needs_along(const IndexMapKernel& kernel, std::size_t axis, TileRange range);
Needs needs_along(const JoinKernel& kernel, std::size_t axis, TileRange range);
Needs needs_along(const ElementWiseKernel& kernel, std::size_t axis, TileRange range);
Needs needs_along(const ProductKernel& kernel, std::size_t axis, TileRange range);
Needs needs_along(const ReduceKernel& kernel, std::size_t axis, TileRange range);
Needs needs_along(const RowsKernel& kernel, std::size_t axis, TileRange range);
Needs needs_along(const ScanKernel& kernel, std::size_t axis, TileRange range);
Needs needs_along(const WindowKernel& kernel, std::size_t axis, TileRange range);

/// Where an axis is cut so that no range is longer than `size`: 0, ..., its extent. An axis that
/// must stay whole has no cuts between. `inputs_fit` says that only the outputs are too large.
std::vector<std::uint64_t> cuts_of(const IndexMapKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool inputs_fit);
std::vector<std::uint64_t> cuts_of(const JoinKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool inputs_fit);
std::vector<std::uint64_t> cuts_of(const ElementWiseKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool inputs_fit);
std::vector<std::uint64_t> cuts_of(const ProductKernel& kernel, std::size_t axis,
                                   std::uint64_t size, bool inputs_fit);
std::vector<std::uint64_t> cuts_of(const ReduceKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool inputs_fit);
std::vector<std::uint64_t> cuts_of(const RowsKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool inputs_fit);
std::vector<std::uint64_t> cuts_of(const ScanKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool inputs_fit);
std::vector<std::uint64_t> cuts_of(const WindowKernel& kernel, std::size_t axis, std::uint64_t size,
                                   bool inputs_fit);

/// The tile of one range per axis.
Tile tile_of(const IndexMapKernel& kernel, const std::vector<TileRange>& box);
Tile tile_of(const JoinKernel& kernel, const std::vector<TileRange>& box);
Tile tile_of(const ElementWiseKernel& kernel, const std::vector<TileRange>& box);
Tile tile_of(const ProductKernel& kernel, const std::vector<TileRange>& box);
Tile tile_of(const ReduceKernel& kernel, const std::vector<TileRange>& box);
Tile tile_of(const RowsKernel& kernel, const std::vector<TileRange>& box);
Tile tile_of(const ScanKernel& kernel, const std::vector<TileRange>& box);
Tile tile_of(const WindowKernel& kernel, const std::vector<TileRange>& box);

/// The whole kernel as one tile: the inputs as they lie in memory, the kernel's own strides.
Tile whole_tile_of(const IndexMapKernel& kernel);
Tile whole_tile_of(const JoinKernel& kernel);
Tile whole_tile_of(const ElementWiseKernel& kernel);
Tile whole_tile_of(const ProductKernel& kernel);
Tile whole_tile_of(const ReduceKernel& kernel);
Tile whole_tile_of(const RowsKernel& kernel);
Tile whole_tile_of(const ScanKernel& kernel);
Tile whole_tile_of(const WindowKernel& kernel);

/// A contiguous part of an input that holds all a kernel reads: elements [offset, offset + count).
struct Hull {
  std::int64_t offset = 0;
  std::uint64_t count = 1;

  /// Adds an axis of so many indices.
  void extend(std::int64_t stride, std::uint64_t indices);
  /// The copy of it.
  Gather gather(std::size_t element_size, std::size_t input) const;
};

/// What a box of outputs needs of an input that has a stride for each axis: a packed copy of its
/// elements, in which those that a stride of 0 repeats stand once.
struct InputBox {
  Gather gather;
  std::vector<std::uint64_t> strides;  // in the copy
};
InputBox input_box(const std::vector<std::uint64_t>& strides, std::size_t element_size,
                   const std::vector<TileRange>& box, std::size_t input);

/// The whole of such an input, as it lies in memory.
Gather whole_input(const std::vector<std::uint64_t>& strides,
                   const std::vector<std::uint64_t>& extents, std::size_t element_size,
                   std::size_t input);

/// The inputs of a kernel that all have a stride for each axis; valid as long as the kernel.
struct StridedInput {
  const std::vector<std::uint64_t>& strides;
  std::size_t element_size;
};
using StridedInputs = std::vector<StridedInput>;

/// What the questions above ask, for such inputs.
std::vector<std::size_t> element_sizes_of(const StridedInputs& inputs);
Needs needs_along(const StridedInputs& inputs, std::size_t axis, TileRange range);
std::vector<InputBox> boxes_of(const StridedInputs& inputs, const std::vector<TileRange>& box);
std::vector<Gather> whole_gathers(const StridedInputs& inputs,
                                  const std::vector<std::uint64_t>& extents);

/// The box of all indices.
std::vector<TileRange> whole_box(const std::vector<std::uint64_t>& extents);

/// A kind of which boxes can be taken.
template <typename Kind>
concept Tiled = requires(const Kind& kernel) {
  extents_of(kernel);
};

/// Positions 0, size, 2 * size, ..., extent.
std::vector<std::uint64_t> even_cuts(std::uint64_t extent, std::uint64_t size);

}  // namespace dmlop::tiles
