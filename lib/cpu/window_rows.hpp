// Where the windows of pooling lie in their input.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/divide.hpp"
#include "ops/kernel.hpp"

namespace dmlop::cpu {

using Int = std::int64_t;

/// Rows that are summed together.
constexpr std::uint64_t rows_at_once = 16;

/// How many elements of a window, without end, lie less than `distance` behind its begin.
inline std::uint64_t elements_before(Int distance, std::uint64_t dilation) {
  if (distance <= 0) return 0;
  const auto elements = static_cast<std::uint64_t>(distance);
  // Most windows have no dilation, and a division takes as long as a few outputs.
  return dilation == 1 ? elements : divided_up(elements, dilation);
}

/// The elements of the window of one axis at output index o that are in the input.
struct Reach {
  std::uint64_t first;  // index in the input
  std::uint64_t count;
};

inline Reach reach_at(const PoolingAxis& axis, std::uint64_t o) {
  const Int begin = static_cast<Int>(o * axis.window_stride) - axis.start_padding;
  const std::uint64_t before = elements_before(-begin, axis.dilation);
  const std::uint64_t end = std::min(
      axis.window, elements_before(static_cast<Int>(axis.input_extent) - begin, axis.dilation));
  if (end <= before) return {0, 0};
  return {static_cast<std::uint64_t>(begin + static_cast<Int>(before * axis.dilation)),
          end - before};
}

/// The input rows under the windows of one output row, as offsets in elements. Only the first are
/// listed: there may be more than fit the memory.
class WindowRows {
 public:
  using Offsets = std::array<std::uint64_t, rows_at_once>;

  explicit WindowRows(const LpPoolingKernel& kernel)
      : kernel_(kernel),
        slice_stride_(kernel.axes[0].input_stride * kernel.axes[0].dilation),
        row_stride_(kernel.axes[1].input_stride * kernel.axes[1].dilation) {}

  /// Goes to those of output row `index`.
  void set(std::uint64_t index) {
    const auto& [depth, height, width] = kernel_.axes;
    const std::uint64_t y = index % height.output_extent;
    const std::uint64_t z = index / height.output_extent % depth.output_extent;
    const std::uint64_t image = index / height.output_extent / depth.output_extent;
    const Reach rows = reach_at(height, y), slices = reach_at(depth, z);
    height_ = rows.count;
    size_ = rows.count * slices.count;
    first_ = image / kernel_.batch_extents[1] * kernel_.batch_strides[0] +
             image % kernel_.batch_extents[1] * kernel_.batch_strides[1] +
             slices.first * depth.input_stride + rows.first * height.input_stride;
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
    std::uint64_t slice = first_ + begin / height_ * slice_stride_;
    std::uint64_t in_slice = begin % height_;
    std::uint64_t at = slice + in_slice * row_stride_;
    for (std::uint64_t& offset : offsets) {
      offset = at;
      at += row_stride_;
      if (++in_slice < height_) continue;
      in_slice = 0;
      at = slice += slice_stride_;
    }
  }

  const LpPoolingKernel& kernel_;
  std::uint64_t slice_stride_;
  std::uint64_t row_stride_;
  std::uint64_t first_ = 0;   // offset of the first row
  std::uint64_t height_ = 0;  // rows of a slice
  std::uint64_t size_ = 0;    // rows of all
  std::array<std::uint64_t, listed_max> listed_;
};

}  // namespace dmlop::cpu
