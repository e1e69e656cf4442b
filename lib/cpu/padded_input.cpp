#include "cpu/padded_input.hpp"

#include <algorithm>
#include <cstring>

#include "base/divide.hpp"
#include "cpu/packing.hpp"

namespace dmlop::cpu {

std::uint64_t reach_of(const ProductWindow& axis) {
  return (axis.taps - 1) *
         static_cast<std::uint64_t>(axis.tap_step < 0 ? -axis.tap_step : axis.tap_step);
}

PaddedInput::PaddedInput(const ProductKernel& kernel)
    : kernel_(kernel), size_(size_of(kernel.right.data_type)) {
  std::copy(kernel.windows.begin(), kernel.windows.end(), axes_.end() - kernel.windows.size());
  row_phases_ = static_cast<std::size_t>(axes_[1].step);
  column_phases_ = static_cast<std::size_t>(axes_[2].step);
}

// What the tap that reaches least adds to an index.
std::int64_t PaddedInput::lowest(std::size_t axis) const {
  const ProductWindow& window = axes_[axis];
  return window.offset +
         std::min<std::int64_t>(0, static_cast<std::int64_t>(window.taps - 1) * window.tap_step);
}

void PaddedInput::set_tile(const WindowTile& tile) {
  rows_ = tile.rows + reach_of(axes_[1]) / row_phases_;
  pitch_ = tile.width + reach_of(axes_[2]) / column_phases_;
  const std::size_t phase = rows_ * pitch_, plane = row_phases_ * column_phases_ * phase;
  channel_pitch_ = axes_[0].taps * plane;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    tap_places_[axis].resize(axes_[axis].taps);
    for (std::size_t tap = 0; tap < axes_[axis].taps; ++tap) {
      const auto at =
          static_cast<std::size_t>(static_cast<std::int64_t>(tap) * axes_[axis].tap_step +
                                   axes_[axis].offset - lowest(axis));
      tap_places_[axis][tap] =
          axis == 0   ? tap * plane
          : axis == 1 ? at % row_phases_ * column_phases_ * phase + at / row_phases_ * pitch_
                      : at % column_phases_ * phase + at / column_phases_;
    }
  }
  const auto extent = static_cast<std::int64_t>(axes_[2].input_extent);
  const auto pitch = static_cast<std::int64_t>(pitch_);
  const std::int64_t step = axes_[2].step;
  phase_rows_.resize(column_phases_);
  for (std::size_t p = 0; p < column_phases_; ++p) {
    const std::int64_t first =
        static_cast<std::int64_t>(tile.x) * step + lowest(2) + static_cast<std::int64_t>(p);
    const std::int64_t begin = std::clamp<std::int64_t>(divided_up(-first, step), 0, pitch);
    const std::int64_t end =
        std::clamp<std::int64_t>(divided_up(extent - first, step), begin, pitch);
    phase_rows_[p] = {begin, end, static_cast<std::uint64_t>(first + begin * step)};
  }
}

void PaddedInput::copy(const std::byte* input, const WindowTile& tile, std::uint64_t channel,
                       std::uint64_t channels) {
  set_tile(tile);
  const ProductWindow& depth = axes_[0];
  const std::size_t plane = row_phases_ * column_phases_ * rows_ * pitch_;
  const std::uint64_t planes = channels * depth.taps;
  data_ = memory_.at_least<float>(planes * plane + slack);
  for (std::uint64_t p = 0; p < planes; ++p) {
    const std::int64_t z = static_cast<std::int64_t>(tile.z) * depth.step + depth.offset +
                           static_cast<std::int64_t>(p % depth.taps) * depth.tap_step;
    const bool is_inside = z >= 0 && z < static_cast<std::int64_t>(depth.input_extent);
    const std::uint64_t offset = (channel + p / depth.taps) * kernel_.right_depth_stride +
                                 static_cast<std::uint64_t>(z) * depth.input_stride;
    copy_plane(is_inside ? input + offset * size_ : input, is_inside, tile, data_ + p * plane);
  }
  std::fill_n(data_ + planes * plane, slack, 0.0F);
}

// Row i of the padded plane is row i / row_phases of phase i % row_phases.
void PaddedInput::copy_plane(const std::byte* plane, bool is_inside, const WindowTile& tile,
                             float* to) {
  const ProductWindow& height = axes_[1];
  const std::int64_t first = static_cast<std::int64_t>(tile.y) * height.step + lowest(1);
  for (std::size_t phase = 0; phase < row_phases_; ++phase) {
    for (std::size_t row = 0; row < rows_; ++row, to += pitch_) {
      const std::int64_t y = first + static_cast<std::int64_t>(row * row_phases_ + phase);
      const bool is_row = is_inside && y >= 0 && y < static_cast<std::int64_t>(height.input_extent);
      if (!is_row) {
        for (std::size_t p = 0; p < column_phases_; ++p)
          std::fill_n(to + p * rows_ * pitch_, pitch_, 0.0F);
        continue;
      }
      steps_.add(height.input_stride * size_ >= page_bytes ? far_steps / 16
                                                           : column_phases_ * pitch_);
      copy_row(plane + static_cast<std::uint64_t>(y) * height.input_stride * size_, to);
    }
    to += (column_phases_ - 1) * rows_ * pitch_;
  }
}

// Number i of phase p is column i * step + p of the padded row.
void PaddedInput::copy_row(const std::byte* row, float* to) {
  const std::uint64_t stride = column_phases_ * axes_[2].input_stride;
  const std::uint64_t bytes = axes_[2].input_stride * size_;
  const bool is_copied = stride == 1 && kernel_.right.data_type == DataType::Float32;
  for (const PhaseRow& phase : phase_rows_) {
    std::fill(to, to + phase.begin, 0.0F);
    const auto count = static_cast<std::uint64_t>(phase.end - phase.begin);
    if (is_copied) {
      std::memcpy(to + phase.begin, row + phase.source * bytes, count * sizeof(float));
    } else if (count > 0) {
      read_elements(kernel_.right.data_type, row + phase.source * bytes, stride, count,
                    to + phase.begin);
    }
    std::fill(to + phase.end, to + pitch_, 0.0F);
    to += rows_ * pitch_;
  }
}

}  // namespace dmlop::cpu
