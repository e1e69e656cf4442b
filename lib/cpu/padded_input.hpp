// What the windows of a tile of outputs read, copied with its padding, as floats: the element under
// a tap of one window stands beside that of the next. Padding is zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "cpu/scratch.hpp"
#include "cpu/product_taps.hpp"
#include "ops/kernels/product.hpp"

namespace dmlop::cpu {

/// Outputs [y, y + rows) x [x, x + width) of plane z.
struct WindowTile {
  std::uint64_t z, y, rows, x, width;
};

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
  std::size_t place(std::uint64_t channel, const Tap& tap) const {
    return channel * channel_pitch_ + tap_places_[0][tap[0]] + tap_places_[1][tap[1]] +
           tap_places_[2][tap[2]];
  }
  /// From a row of windows to the next one.
  std::size_t pitch() const { return pitch_; }

 private:
  /// What a phase has of an input row: numbers [begin, end), the first of column `source`.
  struct PhaseRow {
    std::int64_t begin, end;
    std::uint64_t source;
  };

  std::int64_t lowest(std::size_t axis) const;
  void set_tile(const WindowTile& tile);
  void copy_plane(const std::byte* plane, bool is_inside, const WindowTile& tile, float* to);
  void copy_row(const std::byte* row, float* to);

  const ProductKernel& kernel_;
  std::array<ProductWindow, 3> axes_;  // depth, height, width
  std::size_t size_;
  // Input rows and columns lie in phases, one for each remainder by the step.
  std::size_t row_phases_, column_phases_;
  std::size_t rows_ = 0, pitch_ = 0;  // of a phase
  std::size_t channel_pitch_ = 0;
  std::array<std::vector<std::size_t>, 3> tap_places_;  // of each axis
  std::vector<PhaseRow> phase_rows_;                    // of each column phase
  float* data_ = nullptr;
  GrowingScratch memory_;
  Steps steps_;
};

}  // namespace dmlop::cpu
