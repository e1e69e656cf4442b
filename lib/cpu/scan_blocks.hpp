// The blocks that few long sequences of a running sum or product are cut into. All threads first
// compute what each block comes to, and from these what the blocks begin with; then blocks are
// computed alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/divide.hpp"
#include "cpu/preparation.hpp"
#include "ops/kernels/scan.hpp"

namespace dmlop::cpu {

struct ScanBlocks {
  std::uint64_t inner;     // sequences side by side
  std::uint64_t outer;     // indices along the axes outside of the sequences
  std::uint64_t length;    // elements of a sequence in a block
  std::uint64_t count;     // blocks of a sequence
  std::uint64_t together;  // blocks of a part
  std::uint64_t columns;   // sequences of a part
};

/// Sequences that stand alone and are computed together, or blocks of one.
inline constexpr std::size_t scans_together = 8;

/// None where sequences stay whole: they are enough, or short.
inline std::optional<ScanBlocks> blocks_of(const ScanKernel& scan) {
  constexpr std::uint64_t columns_most = 128;
  ScanBlocks blocks{.inner = 1, .outer = 1, .length = 1, .count = 1, .together = 1, .columns = 1};
  for (std::size_t i = 0; i < scan.axes.size(); ++i) {
    if (i < scan.axis) blocks.outer *= scan.axes[i].extent;
    if (i > scan.axis) blocks.inner *= scan.axes[i].extent;
  }
  const std::uint64_t extent = scan.axes[scan.axis].extent;
  blocks.columns = std::min(blocks.inner, columns_most);
  if (blocks.inner == 1) blocks.together = scans_together;
  blocks.length = std::max<std::uint64_t>(1, block_elements() / blocks.columns / blocks.together);
  blocks.count = divided_up(extent, blocks.length);
  const std::uint64_t parts = blocks.outer * divided_up(blocks.inner, blocks.columns);
  if (parts >= enough_rows() || blocks.count < 2 * blocks.together) return {};
  return blocks;
}

/// What a block comes to, or what it begins with: a number times 2^exponent, or an integer.
struct ScanStart {
  double number = 0;
  std::uint64_t integer = 0;
  int exponent = 0;
};

/// What to compute of a scan.
struct ScanTask {
  enum class Kind : std::uint8_t {
    whole,   // a part without blocks
    add_up,  // what a block of sequences [begin, end) comes to
    begin,   // what the first block begins with
    join,    // what two blocks come to, those of `starts`
    blocks,  // a part of blocks
  };
  Kind kind = Kind::whole;
  Part part = {};
  Stores stores = Stores::cached;
  Destination to = {};
  const ScanBlocks* blocks = nullptr;
  std::uint64_t outer = 0, begin = 0, end = 0, block = 0;
  ScanStart* totals = nullptr;
  const ScanStart* starts = nullptr;
};

}  // namespace dmlop::cpu
