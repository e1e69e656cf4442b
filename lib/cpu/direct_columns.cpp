#include "cpu/direct_columns.hpp"

#include <algorithm>
#include <cstring>

#include "base/threshold.hpp"
#include "cpu/panels.hpp"

namespace dmlop::cpu {
namespace {

// Windows that reach further have mostly gaps between their taps.
constexpr Threshold direct_reach{32, 3};
constexpr std::uint64_t direct_step = 4;

std::array<ProductWindow, 3> axes_of(const ProductKernel& kernel) {
  std::array<ProductWindow, 3> axes;
  std::copy(kernel.windows.begin(), kernel.windows.end(), axes.end() - kernel.windows.size());
  return axes;
}

bool fits(const ProductWindow& axis) {
  return axis.divisor == 1 && axis.computed == axis.output_extent &&
         axis.step <= static_cast<std::int64_t>(direct_step) && axis.taps <= direct_reach &&
         reach_of(axis) <= direct_reach;
}

// To pack an element costs as much as so many products.
constexpr double packing_costs = 12;

// Whether the products between rows of windows cost less than packing.
bool pays(const ProductKernel& kernel, const std::array<ProductWindow, 3>& axes) {
  const ProductWindow &height = axes[1], &width = axes[2];
  const double taps = static_cast<double>(axes[0].taps * height.taps * width.taps);
  const std::uint64_t rows =
      std::min(height.output_extent, direct_columns_at_once(kernel) / width.output_extent);
  const std::uint64_t pitch =
      width.output_extent + reach_of(width) / static_cast<std::uint64_t>(width.step);
  const std::uint64_t panel = panel_columns<float>();
  const std::uint64_t columns = (rows - 1) * pitch + width.output_extent;
  const std::uint64_t computed = (columns + panel - 1) / panel * panel;
  const std::uint64_t wanted = rows * width.output_extent;
  const double rows_of_weights = static_cast<double>(std::min(kernel.rows, most_rows(wanted)));
  return rows_of_weights * static_cast<double>(computed - wanted) <
         packing_costs * static_cast<double>(wanted) * (1 - 1 / taps);
}

}  // namespace

std::uint64_t direct_columns_at_once(const ProductKernel& kernel) {
  const std::uint64_t width = kernel.windows.back().output_extent;
  return columns_at_once / width * width;
}

bool reads_columns_directly(const ProductKernel& kernel) {
  if (kernel.windows.empty() || kernel.windows.back().output_extent > columns_at_once) return false;
  const std::array<ProductWindow, 3> axes = axes_of(kernel);
  return is_within_float32(kernel.left.data_type) && is_within_float32(kernel.right.data_type) &&
         !kernel.left_zero && !kernel.right_zero && std::all_of(axes.begin(), axes.end(), fits) &&
         pays(kernel, axes);
}

DirectColumns::DirectColumns(const ProductKernel& kernel)
    : kernel_(kernel), axes_(axes_of(kernel)), padded_(kernel) {
  taps_ = axes_[0].taps * axes_[1].taps * axes_[2].taps;
}

bool DirectColumns::set_columns(const std::byte* input, std::uint64_t begin, std::uint64_t count) {
  const std::uint64_t width = axes_[2].output_extent, height = axes_[1].output_extent;
  if (begin % width != 0 || count % width != 0) return false;
  const std::uint64_t y = begin / width % height, rows = count / width;
  if (y + rows > height) return false;
  input_ = input;
  tile_ = {.z = begin / width / height, .y = y, .rows = rows, .x = 0, .width = width};
  pitch_ = width + reach_of(axes_[2]) / static_cast<std::uint64_t>(axes_[2].step);
  return true;
}

RightBlock<float> DirectColumns::read(std::uint64_t k, std::size_t depth) {
  const std::uint64_t first = k / taps_;
  padded_.copy(input_, tile_, first, (k + depth - 1) / taps_ - first + 1);
  places_.resize(depth);
  for_each_tap({axes_[0].taps, axes_[1].taps, axes_[2].taps}, k, depth,
               [&](std::size_t i, std::uint64_t channel, const Tap& tap) {
                 places_[i] = static_cast<std::uint32_t>(padded_.place(channel - first, tap));
               });
  return {.data = padded_.data(), .places = places_.data()};
}

void DirectColumns::copy_windows(const float* from, std::byte* to) const {
  const std::size_t bytes = tile_.width * sizeof(float);
  for (std::uint64_t i = 0; i < tile_.rows; ++i)
    std::memcpy(to + i * bytes, from + i * pitch_, bytes);
}

}  // namespace dmlop::cpu
