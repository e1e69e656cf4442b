#include "cpu/product_parts.hpp"

#include <algorithm>

#include "base/divide.hpp"
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

namespace {

/// A cut of the products of a batch into blocks.
struct Cut {
  std::uint64_t rows, columns;  // of a block, but the last ones
};

class Cutting {
 public:
  /// Of so many batches; rows are cut in units of panels, columns in units of `unit`.
  Cutting(const ProductKernel& kernel, std::uint64_t unit)
      : rows_(kernel.rows),
        columns_(kernel.column_count()),
        batches_(kernel.output_elements() / (rows_ * columns_)),
        unit_(unit) {}

  std::uint64_t parts(const Cut& cut) const {
    return batches_ * divided_up(rows_, cut.rows) * divided_up(columns_, cut.columns);
  }
  bool can_be_smaller(const Cut& cut) const {
    return cut.rows > panel_rows() || cut.columns > unit_;
  }
  /// Half as large along the longer side.
  Cut halved(const Cut& cut) const {
    if (cut.rows > panel_rows() && (cut.rows * 2 >= cut.columns || cut.columns <= unit_))
      return {even_block(cut.rows, (cut.rows + 1) / 2, panel_rows()), cut.columns};
    return {cut.rows, even_block(cut.columns, (cut.columns + 1) / 2, unit_)};
  }
  /// The cut, or one with up to twice as many blocks along each side, that keeps all threads busy
  /// until the end.
  Cut balanced(const Cut& cut, std::uint64_t threads) const {
    const std::uint64_t row_blocks = divided_up(rows_, cut.rows);
    const std::uint64_t column_blocks = divided_up(columns_, cut.columns);
    Cut best = cut;
    for (std::uint64_t i = row_blocks; i <= 2 * row_blocks; ++i) {
      for (std::uint64_t k = column_blocks; k <= 2 * column_blocks; ++k) {
        const Cut other{even_block(rows_, divided_up(rows_, i), panel_rows()),
                        even_block(columns_, divided_up(columns_, k), unit_)};
        if (work_of_thread(other, threads) < 0.95 * work_of_thread(best, threads)) best = other;
      }
    }
    return best;
  }

 private:
  // The products of the thread that has most to do.
  double work_of_thread(const Cut& cut, std::uint64_t threads) const {
    return static_cast<double>(divided_up(parts(cut), threads) * cut.rows * cut.columns);
  }

  std::uint64_t rows_, columns_, batches_, unit_;
};

}  // namespace

// Small matrices together; of others the blocks that are packed at once, smaller ones where there
// would be too few for all threads.
PartShape part_shape(const ProductKernel& kernel, std::uint64_t) {
  constexpr Threshold small{std::uint64_t{1} << 19, 8};
  // A product of few rows takes as long as reading its columns.
  constexpr Threshold small_streamed{std::uint64_t{1} << 16, 8};
  constexpr std::uint64_t column_unit = 32;
  const std::uint64_t enough_parts = hardware_threads();
  const std::uint64_t columns = kernel.column_count(), sum = kernel.sum_length();
  const std::uint64_t matrix = kernel.rows * columns;
  const bool is_streamed = kernel.windows.empty() && kernel.rows <= streamed_rows;
  const std::uint64_t least = is_streamed ? small_streamed : small;
  if (matrix <= least / sum) return {.granule = matrix};
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
  const std::uint64_t most =
      is_direct ? direct_columns_at_once(kernel) : std::uint64_t{columns_at_once};
  const Cutting cutting(kernel, unit);
  Cut cut{.rows = 0, .columns = even_block(columns, most, unit)};
  cut.rows = even_block(kernel.rows, most_rows(cut.columns), panel_rows());
  while (cutting.parts(cut) < enough_parts && cut.rows * cut.columns > least / sum &&
         cutting.can_be_smaller(cut))
    cut = cutting.halved(cut);
  constexpr std::uint64_t few_rounds = 4;
  if (cutting.parts(cut) > 1 && cutting.parts(cut) < few_rounds * enough_parts)
    cut = cutting.balanced(cut, enough_parts);
  return {.blocks = Blocks{
              .ranges = cut.rows, .inner = columns, .length = cut.columns, .of = kernel.rows}};
}

}  // namespace dmlop::cpu
