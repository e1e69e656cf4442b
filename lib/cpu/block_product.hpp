// The product of a block of rows and a block of columns: goes over the sum in blocks, packs both
// sides of each and multiplies them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/panels.hpp"

namespace dmlop::cpu {

/// The most rows and columns of a block: what is packed of both stays in the second cache.
inline constexpr std::uint64_t rows_at_once = 240;
inline constexpr std::uint64_t columns_at_once = 512;

template <typename T>
class BlockProduct {
 public:
  BlockProduct() : width_(panel_columns<T>()) {}

  /// Sums over `depth` elements for at most rows_at_once rows and columns_at_once columns.
  /// left(k, count, to) packs elements [k, k + count) of the rows into panels of panel_rows;
  /// right likewise those of the columns into panels of width(). Errors: as check_for_stop().
  template <typename Left, typename Right>
  void run(std::size_t rows, std::size_t columns, std::uint64_t depth, Left&& left, Right&& right) {
    pitch_ = whole(columns, width_);
    const std::size_t deepest = std::min<std::uint64_t>(depth, sum_block);
    grow(sums_, whole(rows, panel_rows) * pitch_);
    grow(left_, whole(rows, panel_rows) * deepest);
    grow(right_, pitch_ * deepest);
    for (std::uint64_t k = 0; k < depth; k += sum_block) {
      check_for_stop();
      const std::size_t count = std::min<std::uint64_t>(depth - k, sum_block);
      left(k, count, left_.data());
      right(k, count, right_.data());
      multiply_panels<T>(
          {left_.data(), rows, right_.data(), columns, count, sums_.data(), pitch_, k == 0});
    }
  }

  /// The sums of a row.
  double* row(std::size_t r) { return sums_.data() + r * pitch_; }
  std::size_t width() const { return width_; }

 private:
  static std::size_t whole(std::size_t count, std::size_t width) {
    return (count + width - 1) / width * width;
  }
  template <typename Element>
  static void grow(std::vector<Element>& memory, std::size_t size) {
    if (memory.size() < size) memory.resize(size);
  }

  std::size_t width_;
  std::size_t pitch_ = 0;
  std::vector<double> sums_;
  std::vector<T> left_, right_;
};

}  // namespace dmlop::cpu
