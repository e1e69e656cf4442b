#include "cpu/window_sums.hpp"

#include <algorithm>

#include "base/divide.hpp"
#include "cpu/packing.hpp"
#include "cpu/panels.hpp"

namespace dmlop::cpu {
namespace {

// More rows of weights are worth packing.
constexpr std::uint64_t most_rows_of_weights = 2;
// What is copied for a tile: more would not stay in the nearest caches.
constexpr std::uint64_t most_columns = 2048, most_copied = std::uint64_t{1} << 14;
// Windows that reach further have mostly gaps between their taps.
constexpr std::uint64_t most_reach = 64;

std::uint64_t reach_of(const ProductWindow& axis) {
  return (axis.taps - 1) *
         static_cast<std::uint64_t>(axis.tap_step < 0 ? -axis.tap_step : axis.tap_step);
}

bool is_float(DataType type) {
  return type == DataType::Float32 || type == DataType::Float16;
}

}  // namespace

bool sums_windows(const ProductKernel& kernel) {
  const auto fits = [](const ProductWindow& axis) {
    return axis.divisor == 1 && axis.computed == axis.output_extent &&
           axis.step <= static_cast<std::int64_t>(most_reach) && axis.taps <= most_reach &&
           reach_of(axis) <= most_reach;
  };
  return !kernel.windows.empty() && kernel.rows <= most_rows_of_weights &&
         kernel.sum_length() <= sum_block && is_float(kernel.left.data_type) &&
         is_float(kernel.right.data_type) && is_float(kernel.output_type) && !kernel.left_zero &&
         !kernel.right_zero && !kernel.left_scale && !kernel.right_scale && !kernel.quantization &&
         (!kernel.added || kernel.added->column_stride == 0) &&
         std::all_of(kernel.windows.begin(), kernel.windows.end(), fits);
}

WindowSums::WindowSums(const ProductKernel& kernel)
    : kernel_(kernel), size_(size_of(kernel.right.data_type)) {
  std::copy(kernel.windows.begin(), kernel.windows.end(), axes_.end() - kernel.windows.size());
  phases_ = static_cast<std::size_t>(axes_[2].step);
}

void WindowSums::run(const std::byte* input, const std::vector<float>& weights, std::uint64_t begin,
                     std::uint64_t count, const std::function<void(const Run&)>& take) {
  const std::uint64_t width = axes_[2].output_extent, height = axes_[1].output_extent;
  const std::uint64_t planes = kernel_.depth * axes_[0].taps;
  const std::uint64_t columns = std::min(width, most_columns);
  const std::uint64_t copied = (columns + reach_of(axes_[2])) * phases_ * planes;
  const std::uint64_t rows = std::max<std::uint64_t>(1, most_copied / copied);
  const std::uint64_t end = begin + count;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t x = at % width, y = at / width % height, z = at / width / height;
    Tile tile{z, y, 1, x, std::min({width - x, end - at, columns})};
    if (tile.width == width) tile.rows = std::min({(end - at) / width, height - y, rows});
    run_tile(input, weights, tile, take);
    at += tile.rows * tile.width;
  }
}

// What the tap that reaches least adds to an index.
std::int64_t WindowSums::lowest(std::size_t axis) const {
  const ProductWindow& window = axes_[axis];
  return window.offset +
         std::min<std::int64_t>(0, static_cast<std::int64_t>(window.taps - 1) * window.tap_step);
}

void WindowSums::run_tile(const std::byte* input, const std::vector<float>& weights,
                          const Tile& tile, const std::function<void(const Run&)>& take) {
  copy_input(input, tile);
  const auto step = static_cast<std::size_t>(axes_[1].step);
  // Where rows follow one another, so do their sums, with what is between them.
  const std::size_t lines = step == 1 ? 1 : tile.rows;
  const std::size_t length = (tile.rows / lines - 1) * row_pitch_ + tile.width;
  float* sums = sum_memory_.at_least<float>(length + tap_slack);
  const std::size_t terms = kernel_.sum_length();
  for (std::uint64_t row = 0; row < kernel_.rows; ++row) {
    set_taps(weights.data() + row * terms);
    for (std::size_t line = 0; line < lines; ++line) {
      steps_.add(length * terms / 8 + 1);
      sum_taps(taps_, length, sums);
      for (std::size_t i = 0; i < tile.rows / lines; ++i) {
        const std::uint64_t y = tile.y + line + i;
        take({row, (tile.z * axes_[1].output_extent + y) * axes_[2].output_extent + tile.x,
              sums + i * row_pitch_, tile.width});
      }
      for (TapRow& tap : taps_) tap.from += step * row_pitch_;
    }
  }
}

// The rows under a tile, for each channel and tap along the outermost axis.
void WindowSums::copy_input(const std::byte* input, const Tile& tile) {
  const auto& [depth, height, width] = axes_;
  copied_rows_ = (tile.rows - 1) * static_cast<std::uint64_t>(height.step) + reach_of(height) + 1;
  phase_pitch_ = tile.width + reach_of(width) / phases_ + 1;
  row_pitch_ = phases_ * phase_pitch_;
  const std::uint64_t planes = kernel_.depth * depth.taps;
  input_ = input_memory_.at_least<float>(planes * copied_rows_ * row_pitch_ + 2 * tap_slack);
  float* to = input_;
  const std::int64_t first = static_cast<std::int64_t>(tile.y) * height.step + lowest(1);
  for (std::uint64_t plane = 0; plane < planes; ++plane) {
    const std::uint64_t channel = plane / depth.taps;
    const std::int64_t z = static_cast<std::int64_t>(tile.z) * depth.step + depth.offset +
                           static_cast<std::int64_t>(plane % depth.taps) * depth.tap_step;
    const bool is_inside = z >= 0 && z < static_cast<std::int64_t>(depth.input_extent);
    for (std::uint64_t i = 0; i < copied_rows_; ++i, to += row_pitch_) {
      const std::int64_t y = first + static_cast<std::int64_t>(i);
      if (!is_inside || y < 0 || y >= static_cast<std::int64_t>(height.input_extent)) {
        std::fill_n(to, row_pitch_, 0.0F);
        continue;
      }
      const std::uint64_t offset = channel * kernel_.right_depth_stride +
                                   static_cast<std::uint64_t>(z) * depth.input_stride +
                                   static_cast<std::uint64_t>(y) * height.input_stride;
      steps_.add(height.input_stride * size_ >= page_bytes ? far_steps / 16 : row_pitch_);
      copy_row(input + offset * size_, tile.x, to);
    }
  }
  std::fill_n(to, 2 * tap_slack, 0.0F);
}

// Number i of phase p is column i * step + p of the padded row.
void WindowSums::copy_row(const std::byte* row, std::uint64_t x, float* to) {
  const ProductWindow& width = axes_[2];
  const auto extent = static_cast<std::int64_t>(width.input_extent);
  const auto pitch = static_cast<std::int64_t>(phase_pitch_);
  for (std::size_t phase = 0; phase < phases_; ++phase, to += pitch) {
    const std::int64_t first =
        static_cast<std::int64_t>(x) * width.step + lowest(2) + static_cast<std::int64_t>(phase);
    const std::int64_t begin = std::clamp<std::int64_t>(divided_up(-first, width.step), 0, pitch);
    const std::int64_t end =
        std::clamp<std::int64_t>(divided_up(extent - first, width.step), begin, pitch);
    std::fill(to, to + begin, 0.0F);
    if (begin < end) {
      const auto source = static_cast<std::uint64_t>(first + begin * width.step);
      read_elements(kernel_.right.data_type, row + source * width.input_stride * size_,
                    phases_ * width.input_stride, static_cast<std::uint64_t>(end - begin),
                    to + begin);
    }
    std::fill(to + end, to + pitch, 0.0F);
  }
}

// The taps of the first row of a tile.
void WindowSums::set_taps(const float* weights) {
  const auto place = [&](std::size_t axis, std::uint64_t tap) {
    return static_cast<std::size_t>(static_cast<std::int64_t>(tap) * axes_[axis].tap_step +
                                    axes_[axis].offset - lowest(axis));
  };
  taps_.clear();
  const std::uint64_t planes = kernel_.depth * axes_[0].taps;
  for (std::uint64_t plane = 0; plane < planes; ++plane) {
    for (std::uint64_t ty = 0; ty < axes_[1].taps; ++ty) {
      const float* row = input_ + (plane * copied_rows_ + place(1, ty)) * row_pitch_;
      for (std::uint64_t tx = 0; tx < axes_[2].taps; ++tx) {
        const std::size_t x = place(2, tx);
        taps_.push_back({row + x % phases_ * phase_pitch_ + x / phases_, *weights++});
      }
    }
  }
}

}  // namespace dmlop::cpu
