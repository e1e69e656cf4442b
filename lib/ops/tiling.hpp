// Cuts a kernel into tiles that fit a device. Every axis of a kernel maps on its own, so a box of
// outputs needs a box of each input: a tile says which elements of the inputs to copy together, a
// kernel over these copies, and where its outputs belong. Pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ops/kernel.hpp"

namespace dmlop {

struct TileLimits {
  std::uint64_t buffer_bytes;  // of any one buffer of a tile
  std::uint64_t buffer_elements = std::uint64_t{1}
                                  << 30;  // kernels count in 32 bits, mirrors twice
};

/// Output indices [begin, end) of one axis.
struct TileRange {
  std::uint64_t begin;
  std::uint64_t end;
};

/// Elements [begin, end) of what an index map makes of an input.
struct Gather {
  IndexMapKernel map;
  std::uint64_t begin;
  std::uint64_t end;
  std::size_t input;  // of the whole kernel

  std::uint64_t elements() const { return end - begin; }
};
/// All elements that the map makes.
Gather whole_gather(IndexMapKernel map, std::size_t input);

struct Tile {
  std::vector<Gather> gathers;  // one per input of the tile's kernel: they are its input buffers
  Kernel kernel;                // reads these buffers
  std::vector<TileRange> box;   // per axis of the whole output
};

/// Whether boxes can be taken of the kernel's outputs.
bool has_tiles(const Kernel& kernel);

class TileGrid {
 public:
  /// Nothing for a kernel of which no boxes can be taken, and when no tile can be small enough: one
  /// reversed sequence or one pooling window that by itself exceeds the limits.
  static std::optional<TileGrid> make(const Kernel& kernel, const TileLimits& limits);

  std::uint64_t size() const { return count_; }
  /// Bytes that all tiles together copy of the inputs, over those that a single tile would copy.
  double copies() const { return copies_; }
  /// Tile number `index`, row-major over the grid.
  Tile tile(std::uint64_t index) const;

  /// Calls action(output element, tile element, count) for every unbroken run of the tile's
  /// outputs.
  void for_each_run(
      const Tile& tile,
      const std::function<void(std::uint64_t, std::uint64_t, std::uint64_t)>& action) const;

 private:
  TileGrid() = default;

  Kernel kernel_;
  std::vector<std::vector<std::uint64_t>>
      cuts_;  // per output axis: 0, where tiles begin, its extent
  std::uint64_t count_ = 1;
  double copies_ = 1;
  bool whole_ = false;  // one tile that reads the inputs as they lie in memory
};

}  // namespace dmlop
