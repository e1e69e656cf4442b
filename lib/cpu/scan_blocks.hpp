// The blocks that few long sequences of a running sum or product are cut into. All threads first
// compute what each block comes to, and from these what the blocks begin with; then blocks are
// computed alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/divide.hpp"
#include "base/threshold.hpp"
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
  constexpr Threshold columns_most{128, 5};
  ScanBlocks blocks{.inner = elements_of(scan.axes.inner),
                    .outer = elements_of(scan.axes.outer),
                    .length = 1,
                    .count = 1,
                    .together = 1,
                    .columns = 1};
  const std::uint64_t extent = scan.axes.along.extent;
  blocks.columns = std::min<std::uint64_t>(blocks.inner, columns_most);
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
  std::int64_t exponent = 0;
};

/// Takes the power of two out of a total, so that no product of two is too large or too small.
inline void take_power(ScanStart& total) {
  if (total.number == 0 || !std::isfinite(total.number)) return;
  const int exponent = std::ilogb(total.number);
  total.number = std::ldexp(total.number, -exponent);
  total.exponent += exponent;
}

inline bool is_of_floats(const ScanKernel& kernel) {
  return is_floating(kernel.data_type);
}

/// What a sequence begins with.
inline ScanStart nothing_of(const ScanKernel& kernel) {
  return {.number = kernel.is_product ? 1.0 : 0.0, .integer = kernel.is_product ? 1U : 0U};
}

/// What two blocks come to together.
inline ScanStart joined(const ScanKernel& kernel, const ScanStart& a, const ScanStart& b) {
  if (!is_of_floats(kernel))
    return {.integer = kernel.is_product ? a.integer * b.integer : a.integer + b.integer};
  if (!kernel.is_product) return {.number = a.number + b.number};
  ScanStart first = a, second = b;
  take_power(first);
  take_power(second);
  ScanStart total{.number = first.number * second.number,
                  .exponent = first.exponent + second.exponent};
  take_power(total);
  return total;
}

/// What to compute of a scan.
struct ScanTask {
  enum class Kind : std::uint8_t {
    whole,   // a part without blocks
    add_up,  // what a block of sequences [begin, end) comes to
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
