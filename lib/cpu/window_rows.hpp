// Where the windows of pooling lie in their input.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "ops/kernel.hpp"

namespace dmlop::cpu {

using Int = std::int64_t;

/// Rows that are summed together.
constexpr std::uint64_t rows_at_once = 16;

/// The window of one axis at output index o, cut to the input: source indices [first, last).
struct Reach {
  Int first;
  Int last;
};

inline Reach reach_at(const PoolingAxis& axis, std::uint64_t o) {
  const Int begin = static_cast<Int>(o * axis.window_stride) - axis.start_padding;
  return {std::max<Int>(begin, 0), std::min<Int>(begin + static_cast<Int>(axis.window),
                                                 static_cast<Int>(axis.input_extent))};
}

/// The input rows under the windows of one output row, as offsets in elements. Only the first are
/// listed: there may be more than fit the memory.
class WindowRows {
 public:
  using Offsets = std::array<std::uint64_t, rows_at_once>;

  explicit WindowRows(const LpPoolingKernel& kernel) : kernel_(kernel) {}

  /// Goes to those of output row `index`.
  void set(std::uint64_t index) {
    const auto& [depth, height, width] = kernel_.axes;
    const std::uint64_t y = index % height.output_extent;
    const std::uint64_t z = index / height.output_extent % depth.output_extent;
    const std::uint64_t image = index / height.output_extent / depth.output_extent;
    const Reach rows = reach_at(height, y), slices = reach_at(depth, z);
    height_ = static_cast<std::uint64_t>(std::max<Int>(0, rows.last - rows.first));
    size_ = height_ * static_cast<std::uint64_t>(std::max<Int>(0, slices.last - slices.first));
    first_ = image / kernel_.batch_extents[1] * kernel_.batch_strides[0] +
             image % kernel_.batch_extents[1] * kernel_.batch_strides[1] +
             static_cast<std::uint64_t>(slices.first) * depth.input_stride +
             static_cast<std::uint64_t>(rows.first) * height.input_stride;
    list(0, std::span(listed_).first(std::min(size_, listed_max)));
  }

  std::uint64_t size() const { return size_; }
  /// The offsets of rows [begin, begin + count), at most rows_at_once; they may be in `room`.
  std::span<const std::uint64_t> offsets(std::uint64_t begin, std::uint64_t count,
                                         Offsets& room) const {
    if (begin + count <= listed_max) return std::span(listed_).subspan(begin, count);
    const auto offsets = std::span(room).first(count);
    list(begin, offsets);
    return offsets;
  }

 private:
  static constexpr std::uint64_t listed_max = 64;

  void list(std::uint64_t begin, std::span<std::uint64_t> offsets) const {
    if (offsets.empty()) return;
    const std::uint64_t row_stride = kernel_.axes[1].input_stride;
    std::uint64_t slice = first_ + begin / height_ * kernel_.axes[0].input_stride;
    std::uint64_t in_slice = begin % height_;
    std::uint64_t at = slice + in_slice * row_stride;
    for (std::uint64_t& offset : offsets) {
      offset = at;
      at += row_stride;
      if (++in_slice < height_) continue;
      in_slice = 0;
      at = slice += kernel_.axes[0].input_stride;
    }
  }

  const LpPoolingKernel& kernel_;
  std::uint64_t first_ = 0;   // offset of the first row
  std::uint64_t height_ = 0;  // rows of a slice
  std::uint64_t size_ = 0;    // rows of all
  std::array<std::uint64_t, listed_max> listed_;
};

}  // namespace dmlop::cpu
