// What the windows of a tile of outputs read, copied with its padding, as floats: the element under
// a tap of one window stands beside that of the next. Padding is zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/parallel.hpp"
#include "cpu/scratch.hpp"
#include "ops/kernels/product.hpp"

namespace dmlop::cpu {

/// Outputs [y, y + rows) x [x, x + width) of plane z.
struct WindowTile {
  std::uint64_t z, y, rows, x, width;
};

/// Whether elements of a type are numbers of a padded input: FLOAT32 or FLOAT16.

/// Of an axis: from the first tap of a window to the last.
std::uint64_t reach_of(const ProductWindow& axis);

class PaddedInput {
 public:
  /// Numbers that may be read behind the last one. They are 0.
  static constexpr std::size_t slack = 128;

  /// Windows without a divisor over FLOAT32 or FLOAT16.
  explicit PaddedInput(const ProductKernel& kernel);

  /// Copies channels [channel, channel + channels). `input` is the first element of the batch.
  /// Errors: as check_for_stop().
  void copy(const std::byte* input, const WindowTile& tile, std::uint64_t channel,
            std::uint64_t channels);

  const float* data() const { return data_; }
  /// Where the first window of the tile has a tap (depth, height, width) of a channel, which counts
  /// from the first one copied.
  std::size_t place(std::uint64_t channel, const std::array<std::uint64_t, 3>& tap) const;
  /// From a row of windows to the next one.
  std::size_t pitch() const { return pitch_; }

 private:
  std::int64_t lowest(std::size_t axis) const;
  void copy_plane(const std::byte* plane, bool is_inside, const WindowTile& tile, float* to);
  void copy_row(const std::byte* row, std::uint64_t x, float* to);

  const ProductKernel& kernel_;
  std::array<ProductWindow, 3> axes_;  // depth, height, width
  std::size_t size_;
  // Input rows and columns lie in phases, one for each remainder by the step.
  std::size_t row_phases_, column_phases_;
  std::size_t rows_ = 0, pitch_ = 0;  // of a phase
  float* data_ = nullptr;
  GrowingScratch memory_;
  Steps steps_;
};

}  // namespace dmlop::cpu
