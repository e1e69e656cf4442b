// Running sums and products: shaders/scan.hlsl.
#include <algorithm>
#include <bit>
#include <optional>

#include "base/threshold.hpp"
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/scan.hlsli"

DMLOP_SPECIALIZATION(ScanSpecialization, SCAN_SPECIALIZATION)

constexpr std::uint64_t block = BLOCK, cell_bytes = 16;
constexpr std::size_t axes_most = 8;
enum Step : uint {
  totals_of_elements = TOTALS_OF_ELEMENTS,
  totals_of_cells = TOTALS_OF_CELLS,
  prefixes = PREFIXES,
  outputs = OUTPUTS
};
enum class Way : uint {
  by_blocks = BY_BLOCKS,
  by_rows = BY_ROWS,
  by_columns = BY_COLUMNS,
  by_columns_alone = BY_COLUMNS_ALONE
};

// Sequences that are shorter are not cut.
constexpr std::uint64_t long_sequence = 2 * block;

std::vector<std::uint64_t> cells_of_levels(std::uint64_t length) {
  std::vector<std::uint64_t> counts;
  if (length <= long_sequence) return counts;
  do {
    length = divided_up(length, block);
    counts.push_back(length);
  } while (length > block);
  return counts;
}

ScanParameters parameters_of(const ScanKernel& kernel) {
  ScanParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  set_sequences(parameters, kernel.axes);
  return parameters;
}

void add_stage(Dispatch& dispatch, Step step, std::size_t level, std::uint64_t threads,
               std::uint64_t work) {
  Stage& stage = dispatch.stages.emplace_back(0, threads, work);
  stage.step = step;
  stage.base = word(level);
}

bool is_packed(const ScanKernel& kernel) {
  const auto& [outer, along, inner] = kernel.axes;
  StridedAxes all = outer;
  all.push_back(along);
  all.insert(all.end(), inner.begin(), inner.end());
  all = merged(all);
  return all.size() == 1 && (all.front().extent == 1 || all.front().stride() == 1);
}

// So few tiles of a sequence that one group is quick.
constexpr Threshold few_tiles{4, 1};

/// How the lanes of a group scan sequences.
struct Lanes {
  std::uint64_t lanes = 1;    // of a sequence, or of a vector of them; a power of two
  std::uint64_t vectors = 1;  // of a lane at a time
  std::uint64_t tiles = 1;    // of the sequence, one after the other
};

// Nothing where rows had better be cut into blocks.
std::optional<Lanes> lanes_of_rows(const ScanKernel& kernel, std::uint64_t inner) {
  const std::uint64_t length = kernel.axes.along.extent;
  const std::uint64_t count = bytes_per_thread / size_of(kernel.data_type);
  if (inner != 1 || length % count != 0 || !is_packed(kernel)) return {};
  // Neighboring lanes read neighboring vectors, in tiles of so many for each.
  constexpr std::uint64_t vectors_most = 4, warp = 32;
  const std::uint64_t vectors = length / count;
  Lanes row;
  while (row.lanes < group_threads &&
         (row.lanes < std::min(vectors, warp) || 2 * row.lanes * vectors_most < vectors))
    row.lanes *= 2;
  row.vectors = std::min(vectors_most, std::bit_ceil(divided_up(vectors, row.lanes)));
  row.tiles = divided_up(vectors, row.lanes * row.vectors);
  constexpr Threshold many_rows{256, 1}, most_tiles{256, 2};
  const bool are_many = kernel.output_elements() / length >= many_rows;
  if (row.tiles > (are_many ? most_tiles : few_tiles)) return {};
  return row;
}

// The same for vectors of columns, each lane with some rows.
std::optional<Lanes> lanes_of_columns(const ScanKernel& kernel, std::uint64_t inner) {
  const std::uint64_t length = kernel.axes.along.extent;
  const std::uint64_t size = size_of(kernel.data_type), per = bytes_per_thread / size;
  const bool is_known = size >= 4 || is_floating(kernel.data_type);
  if (!is_known || inner % per != 0 || !is_packed(kernel)) return {};
  constexpr std::uint64_t rows = 8, lanes_most = 32;
  constexpr Threshold busy_threads{std::uint64_t{1} << 17, 64};
  const std::uint64_t columns = kernel.output_elements() / length / per;
  Lanes column{.vectors = rows};
  while (column.lanes < lanes_most && column.lanes * rows < length &&
         column.lanes * columns < busy_threads)
    column.lanes *= 2;
  column.tiles = divided_up(length, column.lanes * rows);
  constexpr Threshold many_threads{8192, 1}, most_tiles{128, 2};
  const bool are_many = column.lanes * columns >= many_threads;
  if (column.tiles > (are_many ? most_tiles : few_tiles)) return {};
  return column;
}

// Whether there are so many columns that threads are busy that scan a vector of them alone.
bool has_columns_for_all(const ScanKernel& kernel, std::uint64_t inner) {
  constexpr std::uint64_t columns_of_thread = 4, length_most = 4096;
  constexpr Threshold busy_threads{1 << 15, 1};
  const std::uint64_t length = kernel.axes.along.extent;
  return kernel.data_type == DataType::Float32 && !kernel.is_product &&
         inner % columns_of_thread == 0 && is_packed(kernel) && length <= length_most &&
         kernel.output_elements() / length / columns_of_thread >= busy_threads;
}

/// Which way a kernel goes, and with which lanes.
struct Course {
  Way way = Way::by_blocks;
  Lanes lanes = {};
};

Course course_of(const ScanKernel& kernel, std::uint64_t inner) {
  if (const auto row = lanes_of_rows(kernel, inner)) return {Way::by_rows, *row};
  if (has_columns_for_all(kernel, inner)) return {Way::by_columns_alone};
  if (const auto column = lanes_of_columns(kernel, inner)) return {Way::by_columns, *column};
  return {};
}

// Blocks of each sequence, their totals, those of the totals and so on.
void add_levels(Dispatch& dispatch, const ScanKernel& kernel, ScanParameters& parameters) {
  constexpr std::uint64_t block_work = axes_most + block + 8;
  const std::uint64_t length = kernel.axes.along.extent;
  const std::uint64_t sequences = kernel.output_elements() / length;
  const std::vector<std::uint64_t> counts = cells_of_levels(length);
  parameters.levels = word(counts.size());
  std::uint64_t cells = 0;
  for (std::size_t level = 0; level < counts.size(); ++level) {
    parameters.counts[level] = word(counts[level]);
    parameters.begins[level] = word(cells);
    cells += sequences * counts[level];
    add_stage(dispatch, level == 0 ? totals_of_elements : totals_of_cells, level,
              sequences * counts[level], block_work);
  }
  for (std::size_t level = counts.size(); level-- > 0;) {
    const std::uint64_t above = level + 1 < counts.size() ? counts[level + 1] : 1;
    add_stage(dispatch, prefixes, level, sequences * above, block_work);
  }
  dispatch.scratch_bytes = cells * cell_bytes;
  const std::uint64_t count = bytes_per_thread / size_of(kernel.data_type);
  add_stage(dispatch, outputs, 0, divided_up(kernel.output_elements(), count),
            (count + 1) * (axes_most + long_sequence + 8));
}

}  // namespace

Dispatches dispatches_of(const ScanKernel& kernel) {
  if (kernel.axes.outer.size() + kernel.axes.inner.size() > axes_most)
    return refused("it has more than 8 dimensions");
  if (kernel.data_type == DataType::Float64)
    return refused("GPU kernels compute with at most 32 bits");
  const std::uint64_t length = kernel.axes.along.extent;
  const std::uint64_t sequences = kernel.output_elements() / length;
  ScanParameters parameters = parameters_of(kernel);
  const auto [way, lanes] = course_of(kernel, parameters.inner);
  Dispatch dispatch;
  dispatch.kernel = "scan";
  set_specialization(dispatch, ScanSpecialization{.TYPE = known_type(kernel.data_type),
                                                  .IS_PRODUCT = kernel.is_product,
                                                  .FROM_END = kernel.from_end,
                                                  .IS_EXCLUSIVE = kernel.is_exclusive,
                                                  .WAY = way,
                                                  .VECTORS = lanes.vectors});
  dispatch.inputs = {0};
  const auto lanes_power = static_cast<std::size_t>(std::countr_zero(lanes.lanes));
  const std::uint64_t per = bytes_per_thread / size_of(kernel.data_type);
  if (way == Way::by_rows) {
    // A vector is loaded, looked at, added up and scanned, and its total is read twice.
    const std::uint64_t vector_work = 8 + 4 * per;
    add_stage(dispatch, {}, lanes_power, sequences * lanes.lanes,
              lanes.tiles * (lanes.vectors * vector_work + 5 + 3 * 9));
  } else if (way == Way::by_columns_alone) {
    // A row is loaded, looked at and added, or added once more with levels.
    add_stage(dispatch, {}, 0, sequences / per, parameters.length * 4 + 64);
  } else if (way == Way::by_columns) {
    // The same of a row of columns; lanes join cells of four columns at a time.
    const std::uint64_t vector_work = 8 + 5 * per;
    add_stage(dispatch, {}, lanes_power, sequences / per * lanes.lanes,
              lanes.tiles * (lanes.vectors * vector_work + 2 * (8 + 6 * (1 + 2 * 5))));
  } else {
    add_levels(dispatch, kernel, parameters);
  }
  set_parameters(dispatch, parameters);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
