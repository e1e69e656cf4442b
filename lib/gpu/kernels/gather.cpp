// Elements picked by index: shaders/gather.hlsl and shaders/gather_elements.hlsl.
#include <algorithm>
#include <optional>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/gather.hlsli"

DMLOP_SPECIALIZATION(GatherElementsSpecialization, GATHER_ELEMENTS_SPECIALIZATION)
DMLOP_SPECIALIZATION(GatherSpecialization, GATHER_SPECIALIZATION)

constexpr std::size_t coordinates_most = 8;

// What threads move: elements of `size` bytes, in the units of the axes and of the coordinates'
// strides.
struct Moves {
  std::uint64_t size;
  StridedAxes axes;  // operands: input, indices
  std::vector<std::uint64_t> strides;
};

Moves moves_of(const GatherKernel& kernel) {
  const std::uint64_t words = moved_per_element(kernel.element_size);
  Moves moves{.size = moved_size(kernel.element_size), .axes = {}, .strides = {}};
  for (const StridedAxis& axis : kernel.axes)
    moves.axes.push_back({axis.extent, {axis.strides[0] * words, axis.strides[1]}});
  moves.axes.push_back({words, {1}});
  moves.axes = merged(moves.axes);
  for (const IndexedAxis& axis : kernel.coordinates)
    moves.strides.push_back(axis.extent == 1 ? 0 : axis.stride * words);
  return moves;
}

// Whether the elements of a row have one index and stand side by side in the input.
bool has_runs(const Moves& moves) {
  return moves.axes.back().strides == StridedAxis{1, {1, 0}}.strides;
}

// The same with elements of 16 bytes where all rows consist of them.
Moves with_rows_of_vectors(Moves moves) {
  const std::uint64_t per_vector = bytes_per_thread / moves.size;
  const auto is_whole = [&](std::uint64_t elements) { return elements % per_vector == 0; };
  const auto last = moves.axes.end() - 1;
  const bool is_fit =
      has_runs(moves) && is_whole(last->extent) &&
      std::all_of(moves.axes.begin(), last,
                  [&](const StridedAxis& axis) { return is_whole(axis.strides[0]); }) &&
      std::all_of(moves.strides.begin(), moves.strides.end(), is_whole);
  if (!is_fit) return moves;
  moves.size = bytes_per_thread;
  last->extent /= per_vector;
  std::for_each(moves.axes.begin(), last,
                [&](StridedAxis& axis) { axis.strides[0] /= per_vector; });
  for (std::uint64_t& stride : moves.strides) stride /= per_vector;
  return moves;
}

// The rank that the kernel is made for where it moves vectors.
uint known_rank(const GatherKernel& kernel, const Moves& moves) {
  const bool is_known = moves.size == bytes_per_thread && kernel.coordinates.size() == 1 &&
                        kernel.coordinates[0].indices_offset == 0 && moves.axes.size() <= RANK_MOST;
  return is_known ? word(moves.axes.size()) : 0;
}

/// How the groups of gather_elements.hlsl share out rows: so many are theirs, and so many vectors
/// each thread's.
struct SharedRows {
  std::uint64_t rows = 1, loads = 1, outputs = 1;
};

// Nothing where indices do not point into their own rows, or where rows do not fit.
std::optional<SharedRows> shared_rows_of(const GatherKernel& kernel, const Moves& moves) {
  if (moves.axes.size() != 2 || kernel.coordinates.size() != 1) return {};
  const std::uint64_t extent = kernel.coordinates[0].extent, count = moves.axes[1].extent;
  const bool is_packed = moves.strides[0] == 1 && kernel.coordinates[0].indices_offset == 0 &&
                         moves.axes[0].strides == StridedAxis{1, {extent, count}}.strides &&
                         moves.axes[1].strides == StridedAxis{1, {0, 1}}.strides;
  if (!is_packed || moves.size < 2 || moves.size > 4) return {};
  // A row that is mostly not picked is better left alone.
  const std::uint64_t row_bytes = extent * moves.size, result_bytes = count * moves.size;
  if (row_bytes % bytes_per_thread != 0 || result_bytes % bytes_per_thread != 0 ||
      2 * count < extent)
    return {};
  // Rows that are together half as long leave more groups on the way.
  constexpr std::uint64_t bytes_most = VECTORS_MOST * group_threads * bytes_per_thread;
  const std::uint64_t longer_bytes = std::max(row_bytes, result_bytes);
  if (longer_bytes > bytes_most) return {};
  SharedRows shared;
  shared.rows = std::max<std::uint64_t>(1, bytes_most / 2 / longer_bytes);
  shared.loads = divided_up(shared.rows * row_bytes, group_threads * bytes_per_thread);
  shared.outputs = divided_up(shared.rows * result_bytes, group_threads * bytes_per_thread);
  return shared;
}

Dispatch shared_dispatch_of(const GatherKernel& kernel, const Moves& moves,
                            const SharedRows& shared) {
  Dispatch dispatch;
  dispatch.kernel = "gather_elements";
  set_specialization(dispatch,
                     GatherElementsSpecialization{.ELEMENT_SIZE = moves.size,
                                                  .INDEX_TYPE = any_type(kernel.index.type),
                                                  .LARGE_INDEX = kernel.index.large,
                                                  .LOADS = shared.loads,
                                                  .OUTPUTS = shared.outputs});
  dispatch.inputs = {0, 1};
  const std::uint64_t groups = divided_up(moves.axes[0].extent, shared.rows);
  Stage& stage = dispatch.stages.emplace_back(0, groups * group_threads,
                                              2 * shared.loads + shared.outputs * (1 + 2 * 4));
  stage.base = word(shared.rows);
  return dispatch;
}

}  // namespace

Dispatches dispatches_of(const GatherKernel& kernel) {
  if (kernel.coordinates.size() > coordinates_most) return refused("it has more than 8 dimensions");
  const Moves moves = with_rows_of_vectors(moves_of(kernel));
  if (const std::string refusal = walk_refusal(moves.axes); !refusal.empty())
    return refused(refusal);
  GatherParameters parameters{};
  parameters.coordinates = word(kernel.coordinates.size());
  for (std::size_t c = 0; c < kernel.coordinates.size(); ++c) {
    parameters.extents[c] = word(kernel.coordinates[c].extent);
    parameters.strides[c] = word(moves.strides[c]);
    parameters.offsets[c] = word(kernel.coordinates[c].indices_offset);
  }
  const std::uint64_t bytes = kernel.output_elements() * kernel.element_size;
  parameters.elements = word(bytes / moves.size);
  parameters.walk = walk_parameters(moves.axes);
  if (const auto shared = shared_rows_of(kernel, moves)) {
    Dispatch dispatch = shared_dispatch_of(kernel, moves, *shared);
    set_parameters(dispatch, parameters);
    return dispatch;
  }
  Dispatch dispatch;
  dispatch.kernel = "gather";
  set_specialization(dispatch, GatherSpecialization{.ELEMENT_SIZE = moves.size,
                                                    .INDEX_TYPE = any_type(kernel.index.type),
                                                    .LARGE_INDEX = kernel.index.large,
                                                    .HAS_RUNS = has_runs(moves),
                                                    .RANK = known_rank(kernel, moves)});
  dispatch.inputs = {0, 1};
  set_parameters(dispatch, parameters);
  const std::uint64_t rank = moves.axes.size() + kernel.coordinates.size();
  if (moves.size == bytes_per_thread) {
    dispatch.stages.emplace_back(
        0, divided_up(parameters.elements, VECTORS * group_threads) * group_threads,
        VECTORS * (rank + 6));
  } else {
    dispatch.stages.emplace_back(0, threads_for(bytes),
                                 walk_work(moves.size, rank) + kernel.coordinates.size());
  }
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
