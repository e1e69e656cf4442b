#include "gpu/kernels/resample_walk.hpp"

#include <algorithm>

#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/planes.hpp"
#include "gpu/kernels/shared_taps.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/resample_walk.hlsli"

DMLOP_SPECIALIZATION(ResampleWalkSpecialization, RESAMPLE_WALK_SPECIALIZATION)

// Of a thread: columns, those whose elements it loads as words, and rows.
constexpr std::uint64_t narrow_columns = 4;
constexpr std::uint64_t wide_columns_bytes = 16;
constexpr std::uint64_t rows_most = 16;
// Fewer threads than these leave a device idle.
constexpr std::uint64_t threads_wanted = std::uint64_t{1} << 16;

/// How threads walk down the rows of the output.
struct ResampleWalk {
  std::uint64_t column_blocks = 0;
  std::uint64_t row_blocks = 0;
  std::uint64_t block_rows = 0;
  std::uint64_t columns = narrow_columns;
  std::uint64_t stored = 1;  // words at once
  std::uint64_t threads = 0;
  bool has_pairs = false;
  SharedTaps shared;
};

// Where rows begin with whole words. Pairs of FLOAT32 are no faster so.
SharedTaps shared_taps_of(const WindowAxes& axes, std::uint64_t size, std::uint64_t taps) {
  if (size == 4 && taps == 2) return {};
  const std::uint64_t per_word = 4 / size;
  const auto is_odd = [&](std::uint64_t stride) { return stride % per_word != 0; };
  const WindowAxis& width = axes.windowed[1].axis;
  if (width.input_stride != 1 || is_odd(axes.windowed[0].axis.input_stride) ||
      std::any_of(axes.copied.begin(), axes.copied.end(),
                  [&](const StridedAxis& copied) { return is_odd(copied.strides[1]); }))
    return {};
  return shared_taps(width, wide_columns_bytes / size, per_word);
}

std::optional<ResampleWalk> walk_of(const WindowSearch& search, const WindowAxes& axes) {
  if (!has_planes(search, axes) || search.is_maximum) return std::nullopt;
  const WindowAxis& height = axes.windowed[0].axis;
  const WindowAxis& width = axes.windowed[1].axis;
  const std::uint64_t size = dmlop::size_of(search.data_type);
  const std::uint64_t outputs = width.output_extent;
  if (is_plain(height) || is_plain(width) || outputs * size % 4 != 0) return std::nullopt;
  const std::uint64_t taps = few_taps(width);
  if (taps == 0 || few_taps(height) == 0) return std::nullopt;
  ResampleWalk walk{.has_pairs = taps > 1, .shared = shared_taps_of(axes, size, taps)};
  if (walk.shared.words > 0) walk.columns = wide_columns_bytes / size;
  walk.column_blocks = divided_up(outputs, walk.columns);
  if (outputs % walk.columns == 0) walk.stored = walk.columns * size / 4;
  const std::uint64_t row_threads = planes_of(search, axes) * walk.column_blocks;
  walk.block_rows =
      std::clamp<std::uint64_t>(row_threads * height.output_extent / threads_wanted, 1, rows_most);
  walk.row_blocks = divided_up(height.output_extent, walk.block_rows);
  walk.threads = row_threads * walk.row_blocks;
  return walk;
}

ResampleWalkConstants constants_of(const WindowSearch& search, const WindowAxes& axes,
                                   const ResampleWalk& walk) {
  const WindowAxis &height = axes.windowed[0].axis, &width = axes.windowed[1].axis;
  ResampleWalkConstants constants{};
  constants.column_blocks = word(walk.column_blocks);
  constants.row_blocks = word(walk.row_blocks);
  constants.block_rows = word(walk.block_rows);
  constants.last_word = word(4 * last_vector(search) + 3);
  constants.row_stride = word(height.input_stride);
  constants.column_stride = word(width.input_stride);
  constants.output_height = word(height.output_extent);
  constants.output_width = word(width.output_extent);
  set_planes(constants, axes);
  return constants;
}

// The taps of rows, then those of columns.
std::vector<ResampleTaps> taps_of(const WindowAxes& axes, const SharedTaps& shared) {
  std::vector<FewTaps> list = list_few_taps(axes.windowed[0].axis);
  std::vector<FewTaps> columns = list_few_taps(axes.windowed[1].axis);
  // Weights that fit what threads load.
  for (std::size_t c = 0; c < shared.weights.size(); ++c) columns[c].weights = shared.weights[c];
  list.insert(list.end(), columns.begin(), columns.end());
  std::vector<ResampleTaps> all(list.size());
  std::transform(list.begin(), list.end(), all.begin(), [](const FewTaps& taps) {
    return ResampleTaps{word(taps.first), static_cast<float>(taps.weights[0]),
                        static_cast<float>(taps.weights[1])};
  });
  return all;
}

}  // namespace

std::optional<Dispatch> resample_walk(const WindowSearch& search, const WindowAxes& axes) {
  const auto walk = walk_of(search, axes);
  if (!walk) return std::nullopt;
  Dispatch dispatch;
  dispatch.kernel = "resample_walk";
  const SharedTaps& shared = walk->shared;
  const bool has_pairs =
      walk->has_pairs || std::any_of(shared.weights.begin(), shared.weights.end(),
                                     [](const PairOfWeights& pair) { return pair[1] != 0; });
  set_specialization(dispatch, ResampleWalkSpecialization{.TYPE = known_type(search.data_type),
                                                          .COLUMNS = walk->columns,
                                                          .STORED = walk->stored,
                                                          .HAS_PAIRS = has_pairs,
                                                          .WORDS = shared.words,
                                                          .BEFORE = wrapped(shared.before),
                                                          .ADVANCE = shared.advance,
                                                          .OFFSETS = shared.offsets});
  set_constants(dispatch, constants_of(search, axes, *walk));
  set_parameters(dispatch, taps_of(axes, shared));
  dispatch.inputs = {0};
  const std::uint64_t row_work = 1 + 8 * (walk->columns + 1) + shared.words;
  dispatch.stages.emplace_back(
      0, walk->threads, axes.copied.size() + 2 + walk->columns + walk->block_rows * row_work);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
