// Products of matrices and convolutions of FLOAT16 by cooperative matrices:
// shaders/product_matrices.comp.
#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/threshold.hpp"
#include "gpu/kernels/product.hpp"

namespace dmlop::gpu::kernels {
namespace {

DMLOP_SPECIALIZATION(ProductMatricesSpecialization, PRODUCT_MATRICES_SPECIALIZATION)

// Along which axis the elements of a matrix are neighbors.
bool is_left_read_by_row(const ProductKernel& kernel) {
  return kernel.windows.empty() && kernel.left_depth_stride != 1;
}
bool is_right_read_by_depth(const ProductKernel& kernel) {
  return kernel.windows.empty() && kernel.right.column_stride != 1;
}

bool is_plain(const ProductKernel& kernel) {
  return !kernel.left_zero && !kernel.right_zero && !kernel.left_scale && !kernel.right_scale &&
         !kernel.quantization;
}

bool has_halves(const ProductKernel& kernel) {
  return kernel.left.data_type == DataType::Float16 &&
         kernel.right.data_type == DataType::Float16 && is_known_float(kernel.output_type) &&
         (!kernel.added || is_known_float(kernel.added->data_type));
}

bool has_neighbors(const ProductKernel& kernel) {
  const ProductInput &left = kernel.left, &right = kernel.right;
  return (kernel.left_depth_stride == 1 || left.row_stride == 1) &&
         (kernel.right_depth_stride == 1 || right.column_stride == 1);
}

// The last element of the right matrix that a window may reach.
std::uint64_t last_element(const ProductKernel& kernel) {
  std::uint64_t last = kernel.right.offset + (kernel.depth - 1) * kernel.right_depth_stride;
  for (std::size_t a = 0; a < kernel.batches.size(); ++a)
    last += (kernel.batches[a] - 1) * kernel.right.batch_strides[a];
  for (const ProductWindow& window : kernel.windows)
    last += (window.input_extent - 1) * window.input_stride;
  return last;
}

// Whether the elements of the left matrix are neighbors along the sum, and those of the right one
// along the rows of the input.
bool has_neighbors_in_windows(const ProductKernel& kernel) {
  const auto is_whole = [](const ProductWindow& window) {
    return window.computed == window.output_extent;
  };
  return is_sum_in_line(kernel) && kernel.windows.back().input_stride == 1 &&
         std::all_of(kernel.windows.begin(), kernel.windows.end(), is_whole) &&
         last_element(kernel) <= std::numeric_limits<std::int32_t>::max();
}

// Products of matrices so small that their tiles are mostly empty are left to other kernels.
bool suits_matrices(const ProductKernel& kernel) {
  constexpr Threshold least{32, 9};
  const bool neighbors =
      kernel.windows.empty() ? has_neighbors(kernel) : has_neighbors_in_windows(kernel);
  return is_plain(kernel) && has_halves(kernel) && neighbors && kernel.rows >= least &&
         kernel.column_count() >= least && kernel.sum_length() >= least;
}

// Whether eights of elements begin at multiples of 16 bytes on every line of a matrix.
bool is_aligned(const ProductInput& matrix, std::uint64_t line_stride) {
  const auto is_whole = [](std::uint64_t elements) { return elements % 8 == 0; };
  return is_whole(matrix.offset) && is_whole(line_stride) &&
         std::all_of(matrix.batch_strides.begin(), matrix.batch_strides.end(), is_whole);
}

// As in the kernel.
constexpr std::uint64_t threads_of_subgroup = 32;
std::uint64_t pitch_of(std::uint64_t elements) {
  return elements / 8 + 1;
}

// What a group computes and its subgroups do of that.
struct MatrixTile {
  std::uint64_t rows, columns, depth, subgroup_rows, subgroup_columns, slices;
  const char* kernel = "product_matrices";
  std::uint64_t groups_at_once = 0;  // that fill a device; 0: where there are few, sums are divided
  double rate = 0;                   // of a device that is full, in TFLOP/s
  bool needs_whole_slices = false;   // no registers are left for slices that end early

  std::uint64_t subgroups() const { return rows / subgroup_rows * (columns / subgroup_columns); }
  std::uint64_t threads() const { return subgroups() * threads_of_subgroup; }
  // Vectors of 16 bytes in shared memory: slices and places of windows or, at last, sums.
  std::uint64_t shared_vectors(bool is_left_by_row, bool is_right_by_depth) const {
    const std::uint64_t left = is_left_by_row ? depth * pitch_of(rows) : rows * pitch_of(depth);
    const std::uint64_t right =
        is_right_by_depth ? columns * pitch_of(depth) : depth * pitch_of(columns);
    return std::max(slices * (left + right) + 2 * depth,
                    subgroups() * 16 * (subgroup_columns / 4 + 1));
  }
};

// By measurement on an H100 and an H200 with 132 multiprocessors, where groups share one only if
// they have at most 50 KiB of shared memory together. Groups of the largest tile run alone. A
// module of its own has the numbers of its tile in it; see the kernel.
constexpr std::array plain_tiles{
    MatrixTile{256, 128, 32, 64, 32, 1, "product_matrices_256", 132, 214, true},
    MatrixTile{128, 128, 32, 64, 32, 1, "product_matrices_128", 264, 198},
    MatrixTile{64, 128, 32, 64, 32, 1, "product_matrices_64", 396, 190}};
// Few groups with long sums are better off with more threads.
constexpr MatrixTile long_plain_tile{64, 128, 32, 32, 32, 1, "product_matrices_long"},
    small_plain_tile{64, 64, 32, 32, 32, 2};
// Threads that read windows have more to do for each slice, so that longer ones pay, of which
// there is room for one at a time.
constexpr std::array window_tiles{MatrixTile{128, 128, 32, 64, 64, 1},
                                  MatrixTile{128, 64, 32, 64, 32, 1}};
constexpr MatrixTile small_window_tile{64, 64, 32, 32, 32, 1};

// Columns as tiles count them: in whole vectors.
std::uint64_t columns_of_tiles(const ProductKernel& kernel) {
  return padded_columns(kernel, 8);
}

// More than the loops of a thread for a slice: for their pace.
constexpr std::uint64_t work_of_slice = 64;

// No part of a sum is longer than one thread may take. A tile that divides sums has as many parts
// as fill a device.
void divide_sums(const ProductKernel& kernel, const MatrixTile& tile, ProductDivision& division) {
  constexpr Threshold shortest{256, 8};
  constexpr std::uint64_t tiles_wanted = 256, scratch_wanted = 1 << 24;
  const std::uint64_t longest = (thread_work_limit - 2000) / work_of_slice * division.depth;
  std::uint64_t parts = divided_up(kernel.sum_length(), longest);
  if (tile.groups_at_once == 0)
    parts = std::max(parts, std::min({tiles_wanted / division.tiles, kernel.sum_length() / shortest,
                                      scratch_wanted / kernel.output_elements()}));
  division.part_length =
      divided_up(divided_up(kernel.sum_length(), parts), division.depth) * division.depth;
  division.parts = divided_up(kernel.sum_length(), division.part_length);
}

ProductDivision division_into(const ProductKernel& kernel, const MatrixTile& tile) {
  ProductDivision division{.rows = tile.rows, .columns = tile.columns, .depth = tile.depth};
  set_tiles(kernel, columns_of_tiles(kernel), division);
  divide_sums(kernel, tile, division);
  return division;
}

// Whether all parts of the sums end with a slice.
bool has_whole_slices(const ProductKernel& kernel, const ProductDivision& division) {
  return kernel.sum_length() % division.depth == 0;
}

// Whether a tile's rows and columns are mostly those of the product.
bool is_mostly_full(const ProductKernel& kernel, const MatrixTile& tile) {
  return 2 * kernel.rows > tile.rows && 2 * columns_of_tiles(kernel) > tile.columns;
}

// TFLOP/s with a tile. The device computes groups in rounds, of which the last one may be short.
double rate_of(const ProductKernel& kernel, const MatrixTile& tile) {
  const ProductDivision division = division_into(kernel, tile);
  if (!is_mostly_full(kernel, tile) ||
      (tile.needs_whole_slices && !has_whole_slices(kernel, division)))
    return 0;
  const std::uint64_t rounds = divided_up(division.tiles, tile.groups_at_once);
  return tile.rate * static_cast<double>(division.tiles) /
         static_cast<double>(rounds * tile.groups_at_once);
}

MatrixTile plain_tile_of(const ProductKernel& kernel) {
  constexpr Threshold least_rate{90, 0}, long_sum{2048, 64};
  const auto is_slower = [&](const MatrixTile& a, const MatrixTile& b) {
    return rate_of(kernel, a) < rate_of(kernel, b);
  };
  const MatrixTile& best = *std::ranges::max_element(plain_tiles, is_slower);
  const double rate = rate_of(kernel, best);
  if (rate > 0 && rate >= static_cast<double>(least_rate)) return best;
  const bool is_long = kernel.sum_length() >= long_sum && is_mostly_full(kernel, long_plain_tile);
  return is_long ? long_plain_tile : small_plain_tile;
}

// The largest tile with enough groups to fill a device.
MatrixTile window_tile_of(const ProductKernel& kernel) {
  constexpr Threshold groups_wanted{224, 1};
  const auto suits = [&](const MatrixTile& tile) {
    const ProductDivision division = division_into(kernel, tile);
    return is_mostly_full(kernel, tile) && division.tiles * division.parts >= groups_wanted;
  };
  const auto tile = std::ranges::find_if(window_tiles, suits);
  return tile != window_tiles.end() ? *tile : small_window_tile;
}

MatrixTile tile_of(const ProductKernel& kernel) {
  return kernel.windows.empty() ? plain_tile_of(kernel) : window_tile_of(kernel);
}

std::uint64_t elements_per_thread(const ProductKernel& kernel) {
  return bytes_per_thread / size_of(kernel.output_type);
}

// Whether a tile's threads store outputs: 16 bytes of a row at a time.
bool is_direct(const ProductKernel& kernel, const ProductDivision& division) {
  const std::uint64_t run =
      kernel.windows.empty() ? kernel.columns : kernel.windows.back().output_extent;
  return division.parts == 1 && run % elements_per_thread(kernel) == 0;
}

ProductMatricesSpecialization specialization_of(const ProductKernel& kernel, const MatrixTile& tile,
                                                const ProductDivision& division) {
  const bool direct = is_direct(kernel, division);
  const bool by_row = is_left_read_by_row(kernel), by_depth = is_right_read_by_depth(kernel);
  const ProductInput &left = kernel.left, &right = kernel.right;
  const std::uint64_t step =
      kernel.windows.empty() ? 0 : static_cast<std::uint64_t>(kernel.windows.back().step);
  return {.IS_LEFT_READ_BY_ROW = by_row,
          .IS_RIGHT_READ_BY_DEPTH = by_depth,
          .IS_LEFT_ALIGNED = is_aligned(left, by_row ? kernel.left_depth_stride : left.row_stride),
          .IS_RIGHT_ALIGNED =
              is_aligned(right, by_depth ? right.column_stride : kernel.right_depth_stride),
          .IS_DIRECT = direct,
          .OUTPUT_TYPE = known_type(kernel.output_type),
          .TYPE_ADDED = kernel.added ? known_type(kernel.added->data_type) : 0U,
          .IS_ADDED_SCALED = kernel.is_added_scaled,
          .WINDOW_STEP = step,
          .ROWS = tile.rows,
          .COLUMNS = tile.columns,
          .DEPTH = tile.depth,
          .SUBGROUP_ROWS = tile.subgroup_rows,
          .SUBGROUP_COLUMNS = tile.subgroup_columns,
          .BUFFERS = tile.slices,
          .SHARED_VECTORS = tile.shared_vectors(by_row, by_depth),
          .GROUP_SIZE = tile.threads(),
          .HAS_REST = !has_whole_slices(kernel, division)};
}

ProductParameters matrices_parameters_of(const ProductKernel& kernel,
                                         const ProductDivision& division) {
  ProductParameters parameters = parameters_of(kernel, division);
  if (kernel.windows.empty()) return parameters;
  parameters.left_depth_stride = 1;  // of channels and taps
  parameters.last_word = word(last_element(kernel) / 2);
  return parameters;
}

}  // namespace

std::optional<Dispatch> matrices_dispatch_of(const ProductKernel& kernel) {
  if (!suits_matrices(kernel)) return std::nullopt;
  const MatrixTile tile = tile_of(kernel);
  const ProductDivision division = division_into(kernel, tile);
  const bool direct = is_direct(kernel, division);
  Dispatch dispatch{.kernel = tile.kernel,
                    .specialization = words_of(specialization_of(kernel, tile, division))};
  set_parameters(dispatch, matrices_parameters_of(kernel, division));
  for (std::size_t i = 0; i < input_count(kernel); ++i) dispatch.inputs.push_back(i);
  dispatch.stages.emplace_back(0, division.parts * division.tiles * group_threads,
                               division.slices() * work_of_slice + 1000);
  if (direct) return dispatch;
  const std::uint64_t elements = kernel.output_elements();
  dispatch.scratch_bytes = division.parts * divided_up(elements, 4) * 16;
  const std::uint64_t per_thread = elements_per_thread(kernel);
  Stage& finish =
      dispatch.stages.emplace_back(0, divided_up(elements, per_thread),
                                   per_thread * (kernel.batches.size() + 2) + division.parts + 8);
  finish.step = 1;
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
