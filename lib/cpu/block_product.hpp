// The product of a block of rows and a block of columns: goes over the sum in blocks, packs both
// sides of each and multiplies them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/parallel.hpp"
#include "base/threshold.hpp"
#include "cpu/panels.hpp"
#include "cpu/scratch.hpp"

namespace dmlop::cpu {

/// The most rows and columns of a block: what is packed of both stays in the second cache.
inline constexpr Threshold rows_at_once{384, 12};
inline constexpr Threshold columns_at_once{512, 32};

/// The most rows of a block of so many columns: more where these are few, because they are packed
/// again for the next block of rows.
inline std::uint64_t most_rows(std::uint64_t columns) {
  constexpr Threshold more_rows{480, 18};
  return columns <= columns_at_once / 2 ? more_rows : rows_at_once;
}

/// The largest block of at most `most` of `count`, a multiple of `unit`, that cuts it evenly.
inline std::uint64_t even_block(std::uint64_t count, std::uint64_t most, std::uint64_t unit) {
  const std::uint64_t blocks = (count + most - 1) / most;
  const std::uint64_t each = (count + blocks - 1) / blocks;
  return std::min(count, (each + unit - 1) / unit * unit);
}

/// The rows of a block: panels, or rows that are not packed (cpu/panels.hpp).
template <typename T>
struct LeftBlock {
  const T* data;
  std::size_t stride = 0;  // from row to row; 0: panels
};

/// The columns of a block: panels, or columns that are not packed.
template <typename T>
struct RightBlock {
  const T* data;
  std::size_t stride = 0;                 // from an element of the sum to the next; 0: panels
  const std::uint32_t* places = nullptr;  // of the elements of the sum in the first column
};

/// Where sums go as floats, times a factor and plus what is added.
struct RoundedSums {
  float* to;
  std::size_t pitch;  // from row to row
  double factor = 1;
  AddedToSums added = {};
};

template <typename T>
class BlockProduct {
 public:
  BlockProduct() : width_(panel_columns<T>()) {}

  /// Sums over `depth` elements for at most rows_at_once rows and columns_at_once columns.
  /// left(k, count, to) gives elements [k, k + count) of the rows: where they are, or panels of
  /// panel_rows(), for which there is room at `to`. right(k, count, to) does the same for the
  /// columns, with panels of width(). `adds`: to the sums of the last call, which had as many rows
  /// and columns. Errors: as check_for_stop().
  template <typename Left, typename Right>
  void run(std::size_t rows, std::size_t columns, std::uint64_t depth, Left&& left, Right&& right,
           bool adds = false) {
    make_room(rows, columns);
    run_blocks(rows, columns, depth, left, right,
               {.sums = sums_, .pitch = pitch_, .is_first = !adds});
  }

  /// The same, but what the sums come to goes elsewhere.
  template <typename Left, typename Right>
  void run_rounded(std::size_t rows, std::size_t columns, std::uint64_t depth, Left&& left,
                   Right&& right, const RoundedSums& sums) {
    pitch_ = whole(columns, width_);
    if (depth > sum_block) make_room(rows, columns);
    run_blocks(rows, columns, depth, left, right,
               {.sums = sums_,
                .pitch = pitch_,
                .rounded = sums.to,
                .rounded_pitch = sums.pitch,
                .factor = sums.factor,
                .added = sums.added});
  }

  /// Room for sums that are computed elsewhere.
  void make_room(std::size_t rows, std::size_t columns) {
    pitch_ = whole(columns, width_);
    sums_ = memory_.at_least<double>(whole(rows, panel_rows()) * pitch_);
  }

  /// The sums of a row.
  double* row(std::size_t r) { return sums_ + r * pitch_; }
  std::size_t pitch() const { return pitch_; }  // from row to row
  std::size_t width() const { return width_; }

 private:
  template <typename Left, typename Right>
  void run_blocks(std::size_t rows, std::size_t columns, std::uint64_t depth, Left&& left,
                  Right&& right, PanelProduct<T> product) {
    const std::size_t deepest = std::min<std::uint64_t>(depth, sum_block);
    T* left_panels = left_memory_.at_least<T>(whole(rows, panel_rows()) * deepest);
    T* right_panels = right_memory_.at_least<T>(pitch_ * deepest);
    product.rows = rows;
    product.columns = columns;
    float* const rounded = product.rounded;
    for (std::uint64_t k = 0; k < depth; k += sum_block) {
      check_for_stop();
      product.rounded = k + sum_block < depth ? nullptr : rounded;
      product.depth = std::min<std::uint64_t>(depth - k, sum_block);
      const LeftBlock<T> block = left(k, product.depth, left_panels);
      product.left = block.data;
      product.left_stride = block.stride;
      const RightBlock<T> columns_block = right(k, product.depth, right_panels);
      product.right = columns_block.data;
      product.right_stride = columns_block.stride;
      product.right_places = columns_block.places;
      multiply_panels<T>(product);
      product.is_first = false;
    }
  }

  static std::size_t whole(std::size_t count, std::size_t width) {
    return (count + width - 1) / width * width;
  }
  std::size_t width_;
  std::size_t pitch_ = 0;
  double* sums_ = nullptr;
  GrowingScratch memory_, left_memory_, right_memory_;
};

}  // namespace dmlop::cpu
