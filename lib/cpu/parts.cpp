#include "cpu/parts.hpp"

#include <algorithm>

#include "cpu/kinds.hpp"

namespace dmlop::cpu {
namespace {

// A block of sequences stays in the second cache. Where ranges of this many bytes do not fit a
// larger cache either, parts are stretches.
constexpr std::uint64_t block_bytes = std::uint64_t{256} << 10;
constexpr std::uint64_t range_bytes_min = 512;
constexpr std::uint64_t block_bytes_max = std::uint64_t{2} << 20;

/// Whether sequences side by side, along axes inside of the reversed one, have their own lengths.
bool has_own_lengths(const IndexMapKernel& map) {
  for (std::size_t i = map.reversal->axis + 1; i < map.axes.size(); ++i) {
    if (map.axes[i].lengths_stride != 0) return true;
  }
  return false;
}

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

// A reversal along an outer axis reads far apart for every stretch, and the next index along the
// axis reads the same places again.
PartShape part_shape(const IndexMapKernel& map, std::uint64_t) {
  if (!map.reversal || !has_own_lengths(map)) return {};
  const std::uint64_t size = map.element_size;
  std::uint64_t inner = 1;
  for (std::size_t i = map.reversal->axis + 1; i < map.axes.size(); ++i)
    inner *= map.axes[i].extent;
  const std::uint64_t sequence = map.axes[map.reversal->axis].extent;
  const std::uint64_t length = std::min(
      inner,
      std::max(block_bytes / size / std::max<std::uint64_t>(1, sequence), range_bytes_min / size));
  const bool fits = sequence <= block_bytes_max / (length * size);
  if (sequence <= 1 || length * size < range_bytes_min || !fits) return {};
  return {.blocks = Blocks{sequence, inner, length}};
}

PartShape part_shape(const LpPoolingKernel&, std::uint64_t) {
  return {};
}

PartShape sequences_shape(std::uint64_t extent, std::uint64_t inner, std::uint64_t size,
                          std::uint64_t bytes) {
  const std::uint64_t length =
      std::min(inner, std::max(bytes / size / extent, range_bytes_min / size));
  if (extent == 1) return {};
  if (length == inner) return {.granule = extent * inner};
  return {.blocks = Blocks{extent, inner, length}};
}

Parts::Parts(const Kernel& kernel, std::uint64_t bytes) : total_(output_elements(kernel)) {
  const PartShape shape =
      std::visit([&](const auto& kind) { return part_shape(kind, bytes); }, kernel);
  const auto& blocks = shape.blocks;
  const std::uint64_t granules = bytes / output_element_size(kernel) / shape.granule;
  const std::uint64_t stretch = shape.granule * std::max<std::uint64_t>(1, granules);
  ranges_ = blocks ? blocks->ranges : 1;
  sequence_ = blocks && blocks->of != 0 ? blocks->of : ranges_;
  inner_ = blocks ? blocks->inner : total_;
  length_ = blocks ? blocks->length : stretch;
  per_sequence_ = ceil_div(inner_, length_);
  per_axis_ = ceil_div(sequence_, ranges_);
  count_ = total_ == 0 ? 0 : total_ / (inner_ * sequence_) * per_axis_ * per_sequence_;
}

Part Parts::operator[](std::uint64_t index) const {
  const std::uint64_t block = index % per_sequence_ * length_;
  const std::uint64_t outer = index / per_sequence_ / per_axis_;
  const std::uint64_t first = index / per_sequence_ % per_axis_ * ranges_;
  return {.begin = (outer * sequence_ + first) * inner_ + block,
          .length = std::min(length_, inner_ - block),
          .step = inner_,
          .count = std::min(ranges_, sequence_ - first)};
}

}  // namespace dmlop::cpu
