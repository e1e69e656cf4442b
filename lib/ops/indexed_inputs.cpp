#include "ops/indexed_inputs.hpp"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace dmlop {
namespace {

/// The one among a kernel's inputs that holds indices.
struct IndexRead {
  std::size_t read;
  std::vector<std::uint64_t> extents;
};

template <typename Kind, typename... Kinds>
concept OneOf = (std::is_same_v<Kind, Kinds> || ...);

// A new kind of kernel does not compile until it is named here or has an overload below.
template <typename Kind>
requires OneOf<Kind, AttentionKernel, BandKernel, ElementWiseKernel, FoldKernel, HeadRowsKernel,
               IndexMapKernel, JoinKernel, LocalResponseKernel, MaxPlacesKernel, NonzeroCountKernel,
               NonzeroKernel, ProductKernel, RandomBitsKernel, RecurrentKernel, ReduceKernel,
               RowsKernel, ScanKernel, SequenceKernel, TopKKernel, WindowKernel>
    std::optional<IndexRead> index_read(const Kind&) {
  return std::nullopt;
}

std::vector<std::uint64_t> extents_of_axes(const std::vector<IndexedAxis>& coordinates) {
  std::vector<std::uint64_t> extents;
  for (const IndexedAxis& axis : coordinates) extents.push_back(axis.extent);
  return extents;
}

std::optional<IndexRead> index_read(const GatherKernel& kernel) {
  return IndexRead{1, extents_of_axes(kernel.coordinates)};
}

std::optional<IndexRead> index_read(const ScatterKernel& kernel) {
  return IndexRead{1, extents_of_axes(kernel.coordinates)};
}

std::optional<IndexRead> index_read(const UnpoolKernel& kernel) {
  return IndexRead{1, {kernel.image_extent}};
}

template <typename Kind>
requires OneOf<Kind, RegionSampleKernel, RegionGradientKernel, RegionBoxGradientKernel>
    std::optional<IndexRead> index_read(const Kind& kernel) {
  return IndexRead{2, {kernel.regions.input[0].extent}};
}

// Of a box, only the first number is an index.
std::optional<IndexRead> index_read(const RegionMaximumKernel& kernel) {
  return IndexRead{1, {kernel.input[0].extent, 0, 0, 0, 0}};
}

}  // namespace

std::vector<IndexedInput> indexed_inputs(const Plan& plan) {
  std::vector<IndexedInput> inputs;
  for (const Pass& pass : plan.passes) {
    const auto read = std::visit([](const auto& kind) { return index_read(kind); }, pass.kernel);
    if (!read) continue;
    const IndexedInput input{pass.reads.at(read->read), read->extents};
    const bool is_known = std::find(inputs.begin(), inputs.end(), input) != inputs.end();
    if (plan.slots[input.slot].kind == SlotKind::input && !is_known) inputs.push_back(input);
  }
  return inputs;
}

}  // namespace dmlop
