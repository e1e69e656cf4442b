// Selection of the first elements of sorted sequences: shaders/top_k.hlsl.
#include <algorithm>
#include <bit>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/top_k.hlsli"

DMLOP_SPECIALIZATION(TopKSpecialization, TOP_K_SPECIALIZATION)

constexpr std::uint64_t block = BLOCK, entry_bytes = 12;
constexpr std::size_t axes_most = 8;
enum StageKind : uint {
  sort = SORT,
  exchange = EXCHANGE,
  merge = MERGE,
  values = VALUES,
  indices = INDICES,
  few = FEW
};

// So few are selected from a block without sorting the rest of it: as many as a thread's list has.
// So many lists have all that come into question.
constexpr std::uint64_t few_most = FEW_MOST, lists_of_block = block / few_most;

// Selection halves a sequence at least from level to level.
constexpr std::uint64_t selected_most = block / 2;

// More entries are too much memory beside the tensors.
constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 30;

/// The levels of sequences, as the kernel has them.
struct Levels {
  std::vector<std::uint64_t> counts, spans, begins;
  std::uint64_t kept = 0;
  std::uint64_t entries = 0;  // in the scratch
  bool sorts_all = false;
};

std::uint64_t length_of(const TopKKernel& kernel) {
  return kernel.axes.along.extent;
}
std::uint64_t sequences_of(const TopKKernel& kernel) {
  return kernel.axes.sequences();
}

Levels levels_of(const TopKKernel& kernel) {
  const std::uint64_t length = length_of(kernel), sequences = sequences_of(kernel);
  Levels levels;
  levels.sorts_all = length > block && kernel.k > selected_most;
  levels.kept = levels.sorts_all ? block : kernel.k;
  levels.counts = {length};
  levels.begins = {0};
  for (bool is_last = false; !is_last;) {
    const std::uint64_t count = levels.counts.back();
    is_last = count <= block || levels.sorts_all;
    levels.spans.push_back(is_last ? std::bit_ceil(count) : divided_up(count, block) * block);
    const std::uint64_t blocks = divided_up(levels.spans.back(), block);
    levels.counts.push_back(blocks * levels.kept);
    levels.begins.push_back(levels.entries);
    levels.entries += sequences * levels.counts.back();
  }
  return levels;
}

TopKParameters parameters_of(const TopKKernel& kernel, const Levels& levels) {
  TopKParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  parameters.k = word(kernel.k);
  parameters.sequences = word(sequences_of(kernel));
  set_sequences(parameters, kernel.axes);
  std::transform(levels.counts.begin(), levels.counts.end(), parameters.counts, word);
  std::transform(levels.spans.begin(), levels.spans.end(), parameters.spans, word);
  std::transform(levels.begins.begin(), levels.begins.end(), parameters.begins, word);
  parameters.kept = word(levels.kept);
  parameters.result = word(levels.spans.size());
  return parameters;
}

void add_stage(Dispatch& dispatch, StageKind kind, std::uint64_t logarithm, std::uint64_t base,
               std::uint64_t threads, std::uint64_t work) {
  Stage& stage = dispatch.stages.emplace_back(0, threads, work);
  stage.step = word(kind | logarithm << 3);
  stage.base = word(base);
}

uint logarithm_of(std::uint64_t power) {
  return static_cast<uint>(std::countr_zero(power));
}

// Whether a few entries are kept of blocks. Keys are words there, and a block is a sequence's own.
bool selects_few(const TopKKernel& kernel, const Levels& levels) {
  return levels.kept <= few_most && levels.spans.front() >= block && size_of(kernel.data_type) <= 4;
}

// Threads with lists for the blocks of every level.
void add_selections(Dispatch& dispatch, const Levels& levels, std::uint64_t sequences) {
  // All lists are looked at, and each of a thread's candidates with all others: at worst there are
  // as many as few lists have elements.
  constexpr std::uint64_t candidates = few_most * few_most;
  constexpr std::uint64_t work = axes_most + 1 + 6 * few_most + lists_of_block +
                                 candidates / lists_of_block * (1 + candidates);
  for (std::size_t level = 0; level < levels.spans.size(); ++level) {
    const std::uint64_t blocks = sequences * divided_up(levels.spans[level], block);
    add_stage(dispatch, few, 0, level,
              divided_up(blocks * lists_of_block, group_threads) * group_threads, work);
  }
}

// A group sorts a block of every level.
void add_sorts(Dispatch& dispatch, const Levels& levels, std::uint64_t sequences) {
  constexpr std::uint64_t work = 4 * (axes_most + 2) + 4 + 10 * 11 + 8;
  for (std::size_t level = 0; level < levels.spans.size(); ++level) {
    const std::uint64_t blocks = divided_up(sequences * levels.spans[level], block);
    const std::uint64_t row = std::min(levels.spans[level], block);
    add_stage(dispatch, sort, logarithm_of(row), level, blocks * group_threads, work);
  }
}

// Sorted blocks become sorted sequences: a bitonic network, of which a group does the steps within
// a block.
void add_merges(Dispatch& dispatch, std::uint64_t span, std::uint64_t sequences) {
  for (std::uint64_t row = 2 * block; row <= span; row *= 2) {
    for (std::uint64_t distance = row / 2; distance >= block; distance /= 2) {
      add_stage(dispatch, exchange, logarithm_of(row), logarithm_of(distance), sequences * span / 2,
                1);
    }
    add_stage(dispatch, merge, logarithm_of(row), 0, sequences * span / block * group_threads, 32);
  }
}

void add_outputs(Dispatch& dispatch, StageKind kind, const TopKKernel& kernel, DataType type) {
  const std::uint64_t count = bytes_per_thread / size_of(type);
  add_stage(dispatch, kind, 0, 0, divided_up(kernel.output_elements(), count),
            (count + 1) * (axes_most + 2));
}

}  // namespace

Dispatches dispatches_of(const TopKKernel& kernel) {
  if (kernel.axes.outer.size() + kernel.axes.inner.size() > axes_most)
    return refused("it has more than 8 dimensions");
  if (kernel.data_type == DataType::Float64)
    return refused("GPU kernels compute with at most 32 bits");
  const Levels levels = levels_of(kernel);
  const std::uint64_t sequences = sequences_of(kernel);
  if (levels.entries * entry_bytes > scratch_bytes_most ||
      sequences * levels.spans.front() >= std::uint64_t{1} << 32)
    return refused("what it sorts does not fit a GPU's memory");
  Dispatch dispatch;
  dispatch.kernel = "top_k";
  set_specialization(dispatch, TopKSpecialization{.TYPE = any_type(kernel.data_type),
                                                  .INDEX_TYPE = any_type(kernel.index_type),
                                                  .IS_DESCENDING = kernel.is_descending,
                                                  .SELECTS_FEW = selects_few(kernel, levels)});
  dispatch.inputs = {0};
  dispatch.scratch_bytes = levels.entries * entry_bytes;
  if (selects_few(kernel, levels)) {
    add_selections(dispatch, levels, sequences);
  } else {
    add_sorts(dispatch, levels, sequences);
  }
  if (levels.sorts_all) add_merges(dispatch, levels.spans.front(), sequences);
  add_outputs(dispatch, values, kernel, kernel.data_type);
  add_outputs(dispatch, indices, kernel, kernel.index_type);
  set_parameters(dispatch, parameters_of(kernel, levels));
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
