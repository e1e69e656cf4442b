#include "cpu/product_parts.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/block_product.hpp"
#include "cpu/byte_product.hpp"
#include "cpu/direct_columns.hpp"
#include "cpu/kinds.hpp"
#include "cpu/window_sums.hpp"

namespace dmlop::cpu {
namespace {

bool fits_float(DataType type) {
  return is_within_float32(type) || info(type).bits <= 8;
}

}  // namespace

bool multiplies_as_floats(const ProductKernel& kernel) {
  return fits_float(kernel.left.data_type) && fits_float(kernel.right.data_type);
}

// Outputs that are not computed are left to the other way.
bool multiplies_as_bytes(const ProductKernel& kernel) {
  const auto is_whole = [](const ProductWindow& window) {
    return window.computed == window.output_extent;
  };
  return size_of(kernel.left.data_type) == 1 && size_of(kernel.right.data_type) == 1 &&
         multiplies_bytes() && std::all_of(kernel.windows.begin(), kernel.windows.end(), is_whole);
}

// Small matrices together; of others the blocks that are packed at once, smaller ones where there
// would be too few for all threads.
PartShape part_shape(const ProductKernel& kernel, std::uint64_t) {
  constexpr Threshold small{std::uint64_t{1} << 20, 8};
  constexpr Threshold small_of_many{std::uint64_t{1} << 19, 8};
  constexpr Threshold worthwhile{std::uint64_t{1} << 22, 8};
  constexpr Threshold worthwhile_of_many{std::uint64_t{1} << 19, 8};
  // A product of few rows takes as long as reading its columns.
  constexpr Threshold small_streamed{std::uint64_t{1} << 16, 8};
  constexpr std::uint64_t column_unit = 32;
  const std::uint64_t enough_parts = hardware_threads();
  const std::uint64_t columns = kernel.column_count(), sum = kernel.sum_length();
  const std::uint64_t matrix = kernel.rows * columns;
  const bool is_streamed = kernel.windows.empty() && kernel.rows <= streamed_rows;
  const bool is_many = threads_look_for_work();
  const std::uint64_t least = is_streamed ? small_streamed
                              : is_many   ? worthwhile_of_many
                                          : worthwhile;
  const std::uint64_t smallest = is_streamed ? small_streamed : is_many ? small_of_many : small;
  if (matrix <= smallest / sum) return {.granule = matrix};
  if (sums_windows(kernel)) {
    constexpr Threshold sums_at_once{std::uint64_t{1} << 15, 9};
    const std::uint64_t width = kernel.windows.back().output_extent;
    const std::uint64_t most = std::max(width, sums_at_once / width * width);
    return {.blocks = Blocks{.ranges = kernel.rows,
                             .inner = columns,
                             .length = even_block(columns, most, width),
                             .of = kernel.rows}};
  }
  const bool is_direct = reads_columns_directly(kernel);
  const std::uint64_t unit = is_direct ? kernel.windows.back().output_extent : column_unit;
  std::uint64_t length = even_block(
      columns, is_direct ? direct_columns_at_once(kernel) : std::uint64_t{columns_at_once}, unit);
  std::uint64_t rows = even_block(kernel.rows, most_rows(length), panel_rows());
  const std::uint64_t batches = kernel.output_elements() / matrix;
  const auto parts = [&] {
    return batches * ((kernel.rows + rows - 1) / rows) * ((columns + length - 1) / length);
  };
  while (parts() < enough_parts && rows * length > least / sum &&
         (rows > panel_rows() || length > unit)) {
    if (rows > panel_rows() && (rows * 2 >= length || length <= unit)) {
      rows = even_block(rows, (rows + 1) / 2, panel_rows());
    } else {
      length = even_block(length, (length + 1) / 2, unit);
    }
  }
  return {.blocks = Blocks{.ranges = rows, .inner = columns, .length = length, .of = kernel.rows}};
}

}  // namespace dmlop::cpu
