#include "cpu/window_sums.hpp"

#include <algorithm>

#include "base/threshold.hpp"
#include "cpu/panels.hpp"

namespace dmlop::cpu {
namespace {

// More rows of weights are worth packing.
constexpr std::uint64_t most_rows_of_weights = 2;
// What is copied for a tile: more would not stay in the nearest caches.
constexpr Threshold most_columns{2048, 7}, most_copied{std::uint64_t{1} << 14, 9};
// Windows that reach further have mostly gaps between their taps.
constexpr Threshold most_reach{64, 2};

}  // namespace

bool sums_windows(const ProductKernel& kernel) {
  const auto fits = [](const ProductWindow& axis) {
    return axis.divisor == 1 && axis.computed == axis.output_extent &&
           axis.step <= static_cast<std::int64_t>(std::uint64_t{most_reach}) &&
           axis.taps <= most_reach && reach_of(axis) <= most_reach;
  };
  return !kernel.windows.empty() && kernel.rows <= most_rows_of_weights &&
         kernel.sum_length() <= sum_block && is_within_float32(kernel.left.data_type) &&
         is_within_float32(kernel.right.data_type) && is_within_float32(kernel.output_type) &&
         !kernel.left_zero && !kernel.right_zero && !kernel.left_scale && !kernel.right_scale &&
         !kernel.quantization && (!kernel.added || kernel.added->column_stride == 0) &&
         std::all_of(kernel.windows.begin(), kernel.windows.end(), fits);
}

WindowSums::WindowSums(const ProductKernel& kernel) : kernel_(kernel), input_(kernel) {
  std::copy(kernel.windows.begin(), kernel.windows.end(), axes_.end() - kernel.windows.size());
}

void WindowSums::run(const std::byte* input, const std::vector<float>& weights, std::uint64_t begin,
                     std::uint64_t count, const std::function<void(const Run&)>& take) {
  const std::uint64_t width = axes_[2].output_extent, height = axes_[1].output_extent;
  const std::uint64_t planes = kernel_.depth * axes_[0].taps;
  const std::uint64_t columns = std::min<std::uint64_t>(width, most_columns);
  const std::uint64_t copied =
      (columns + reach_of(axes_[2])) * static_cast<std::uint64_t>(axes_[2].step) * planes;
  const std::uint64_t rows = std::max<std::uint64_t>(1, most_copied / copied);
  const std::uint64_t end = begin + count;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t x = at % width, y = at / width % height, z = at / width / height;
    WindowTile tile{z, y, 1, x, std::min({width - x, end - at, columns})};
    if (tile.width == width) tile.rows = std::min({(end - at) / width, height - y, rows});
    run_tile(input, weights, tile, take);
    at += tile.rows * tile.width;
  }
}

// Rows of windows follow one another, and so do their sums, with what is between them.
void WindowSums::run_tile(const std::byte* input, const std::vector<float>& weights,
                          const WindowTile& tile, const std::function<void(const Run&)>& take) {
  input_.copy(input, tile, 0, kernel_.depth);
  const std::size_t length = (tile.rows - 1) * input_.pitch() + tile.width;
  float* sums = sum_memory_.at_least<float>(length + tap_slack);
  const std::size_t terms = kernel_.sum_length();
  for (std::uint64_t row = 0; row < kernel_.rows; ++row) {
    set_taps(weights.data() + row * terms);
    steps_.add(length * terms / 8 + 1);
    sum_taps(taps_, length, sums);
    for (std::size_t i = 0; i < tile.rows; ++i) {
      const std::uint64_t y = tile.y + i;
      take({row, (tile.z * axes_[1].output_extent + y) * axes_[2].output_extent + tile.x,
            sums + i * input_.pitch(), tile.width});
    }
  }
}

void WindowSums::set_taps(const float* weights) {
  taps_.clear();
  for (std::uint64_t channel = 0; channel < kernel_.depth; ++channel) {
    std::array<std::uint64_t, 3> tap{};
    for (tap[0] = 0; tap[0] < axes_[0].taps; ++tap[0]) {
      for (tap[1] = 0; tap[1] < axes_[1].taps; ++tap[1]) {
        for (tap[2] = 0; tap[2] < axes_[2].taps; ++tap[2])
          taps_.push_back({input_.data() + input_.place(channel, tap), *weights++});
      }
    }
  }
}

}  // namespace dmlop::cpu
