#include "cpu/parts.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/divide.hpp"
#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/kinds.hpp"
#include "cpu/transpose.hpp"

namespace dmlop::cpu {
namespace {

// A block of sequences stays in the second cache. Where ranges of this many bytes do not fit a
// larger cache either, parts are stretches.
constexpr Threshold block_bytes{std::uint64_t{256} << 10, 40};
constexpr Threshold range_bytes_min{512, 8};
constexpr Threshold block_bytes_max{std::uint64_t{2} << 20, 400};

/// Whether sequences side by side, along axes inside of the reversed one, have their own lengths.
bool has_own_lengths(const IndexMapKernel& map) {
  for (std::size_t i = map.reversal->axis + 1; i < map.axes.size(); ++i) {
    if (map.axes[i].lengths_stride != 0) return true;
  }
  return false;
}

// Where indices along an outer axis take elements of the same cache lines in turns, as those of
// SPACE_TO_DEPTH do, and the lines do not stay in the nearest caches from one index to the next, a
// part has all of these indices.
PartShape interleaved_shape(const IndexMapKernel& map, std::uint64_t bytes) {
  constexpr std::uint64_t line = 64;
  constexpr Threshold kept_bytes{std::uint64_t{32} << 10, 8};
  const auto step_of = [&](const IndexMapAxis& axis) {
    return static_cast<std::uint64_t>(std::abs(axis.stride)) * map.element_size;
  };
  const IndexMapAxis& last = map.axes.back();
  if (last.boundary != Boundary::none || step_of(last) <= map.element_size) return {};
  std::uint64_t inner = last.extent;
  for (std::size_t i = map.axes.size() - 1; i-- > 0; inner *= map.axes[i].extent) {
    const IndexMapAxis& axis = map.axes[i];
    const bool shares = axis.boundary == Boundary::none && axis.stride != 0 && axis.extent > 1 &&
                        axis.extent * step_of(axis) <= line && step_of(axis) < step_of(last);
    if (!shares) continue;
    if (inner * map.element_size < kept_bytes) return {};
    const std::uint64_t length = std::max<std::uint64_t>(1, bytes / map.element_size / axis.extent);
    return {.blocks = Blocks{axis.extent, inner, std::min(inner, length)}};
  }
  return {};
}

}  // namespace

// A reversal along an outer axis reads far apart for every stretch, and the next index along the
// axis reads the same places again.
PartShape part_shape(const IndexMapKernel& map, std::uint64_t bytes) {
  if (const auto transposed = transposed_shape(map, bytes)) return *transposed;
  if (!map.reversal) return interleaved_shape(map, bytes);
  if (!has_own_lengths(map)) return {};
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

PartShape sequences_shape(std::uint64_t extent, std::uint64_t inner, std::uint64_t size,
                          std::uint64_t bytes) {
  const std::uint64_t length =
      std::min(inner, std::max(bytes / size / extent, range_bytes_min / size));
  if (extent == 1) return {};
  if (length == inner) return {.granule = extent * inner};
  return {.blocks = Blocks{extent, inner, length}};
}

std::uint64_t bytes_of_part(std::uint64_t most, std::uint64_t total) {
  constexpr Threshold least{std::uint64_t{32} << 10, 24};
  constexpr std::uint64_t parts_of_core = 4;
  return std::min(most,
                  std::max<std::uint64_t>(least, total / (parts_of_core * hardware_threads())));
}

namespace {

Parts parts_of(const Kernel& kernel, std::uint64_t most) {
  const std::uint64_t elements = output_elements(kernel);
  const std::size_t size = output_element_size(kernel);
  const std::uint64_t bytes = bytes_of_part(most, elements * size);
  const auto shape_of = [&](const auto& kind) { return part_shape(kind, bytes); };
  return {std::visit(shape_of, kernel), elements, size, bytes};
}

}  // namespace

Parts::Parts(const Kernel& kernel, std::uint64_t most) : Parts(parts_of(kernel, most)) {}

Parts::Parts(const PartShape& shape, std::uint64_t elements, std::size_t size, std::uint64_t bytes)
    : total_(elements) {
  const auto& blocks = shape.blocks;
  const std::uint64_t granules = bytes / size / shape.granule;
  const std::uint64_t stretch = shape.granule * std::max<std::uint64_t>(1, granules);
  ranges_ = blocks ? blocks->ranges : 1;
  sequence_ = blocks && blocks->of != 0 ? blocks->of : ranges_;
  inner_ = blocks ? blocks->inner : total_;
  length_ = blocks ? blocks->length : stretch;
  per_sequence_ = divided_up(inner_, length_);
  per_axis_ = divided_up(sequence_, ranges_);
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
