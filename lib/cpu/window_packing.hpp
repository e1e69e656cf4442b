// Packs the windows of a convolution into panels: a column is an output position, its elements are
// those under its window. Only a block of them is in memory at a time. Padding is elements like
// others: 0, or the zero point, which a product takes away again.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/packing.hpp"
#include "cpu/product_taps.hpp"
#include "ops/kernels/product.hpp"

namespace dmlop::cpu {

/// T is float, double, or std::uint8_t: bytes as they are.
template <typename T>
class WindowPacking {
 public:
  explicit WindowPacking(const ProductKernel& kernel);

  /// Goes to the batch whose first element is at `data`. The zero point is subtracted from numbers;
  /// bytes are padded with it.
  void set_batch(const std::byte* data, T zero);
  /// Goes to output positions [begin, begin + count).
  void set_columns(std::uint64_t begin, std::uint64_t count);
  /// Packs elements [first, first + depth) of each into panels of `width`.
  void pack(std::uint64_t first, std::size_t depth, std::size_t width, T* to);
  /// Writes them as lines, one for each element, `pitch` apart.
  void read_lines(std::uint64_t first, std::size_t depth, std::size_t pitch, T* to);

  /// The columns that are not computed.
  const std::vector<bool>& is_left_out() const { return is_left_out_; }
  bool has_left_out() const { return has_left_out_; }

 private:
  /// Positions side by side along the innermost axis.
  struct Segment {
    std::uint64_t z, y, x, count, at;
  };
  /// The positions along the innermost axis whose tap lies in the input: each `x_step` from begin
  /// on, the first of which reads source index `source`, the others `source_step` further.
  struct Reach {
    std::int64_t begin, end, x_step, source, source_step;
  };
  using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  /// A tap of a plane: columns [begin, end) come from source[column], where the mask is set.
  struct PlaneTap {
    std::int64_t begin, end;  // of the columns at hand
    const T* source;
    const Bits* mask;
  };

  Reach reach_of(std::uint64_t tap) const;
  Reach reach_at(std::uint64_t tap) const;  // the same, as it was noted
  Tap taps() const { return {axes_[0].taps, axes_[1].taps, axes_[2].taps}; }
  bool is_plane() const;
  void pack_plane(std::uint64_t first, std::size_t depth, std::size_t width, T* to);
  void set_masks();
  PlaneTap plane_tap(std::uint64_t channel, const Tap& tap);
  void copy_plane(const PlaneTap& tap, std::size_t column, std::size_t count, T* to) const;
  void read_line(std::uint64_t channel, const Tap& tap, T* line);
  void read_segment(const Segment& segment, const Reach& reach, const std::byte* row, T* line);
  void copy_segment(const Segment& segment, const Reach& reach, const std::byte* row, T* line);

  const ProductKernel& kernel_;
  std::array<ProductWindow, 3> axes_;  // depth, height, width
  const std::byte* data_ = nullptr;
  T zero_ = 0;     // to subtract
  T padding_ = 0;  // what bytes are padded with
  std::size_t size_;
  bool is_copied_ = false;  // segments are numbers of this type, side by side
  bool is_plane_ = false;   // so are whole images, whose rows are as long as those of outputs
  std::vector<std::vector<Bits>> masks_;  // of a plane, for each tap along the innermost axis
  std::vector<Reach> reaches_;            // of the first taps
  std::vector<Segment> segments_;
  std::uint64_t begin_ = 0;
  std::vector<bool> is_left_out_;
  bool has_left_out_ = false;
  std::vector<T> line_, scattered_;
  Steps steps_;
};

}  // namespace dmlop::cpu
