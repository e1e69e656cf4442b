#include "gpu/window_walk.hpp"

#include <algorithm>

#include "gpu/device.hpp"

namespace dmlop::gpu {
namespace {

using Int = std::int64_t;

// What the kernel's arrays and compilers hold.
constexpr std::uint64_t window_most = 7;
constexpr std::uint64_t stride_x_most = 3;
constexpr std::uint64_t rows_most = 32;
// Each shape of windows is a pipeline of its own, which takes longer to make than few outputs.
constexpr std::uint64_t outputs_least = std::uint64_t{1} << 14;
// Fewer threads leave a device idle.
constexpr std::uint64_t threads_wanted = std::uint64_t{1} << 17;
// Of a thread: bytes of a row, and rows that are loaded ahead. More need more registers.
constexpr std::uint64_t columns_bytes = 8;
constexpr std::uint64_t rows_ahead = 1;

std::uint64_t divided_up(std::uint64_t a, std::uint64_t b) {
  return (a + b - 1) / b;
}

/// What a thread needs of a row and owns of it, in elements.
class Walker {
 public:
  explicit Walker(const WalkedWindows& windows) : windows_(windows) {}

  bool fits() const {
    // Windows that share no rows gain nothing.
    return height_.stride < height_.window && height_.window <= window_most &&
           width_.window <= window_most && width_.stride <= stride_x_most && fits_slack();
  }

  std::uint64_t columns() const { return columns_bytes / size_; }
  std::uint64_t column_blocks() const {
    return divided_up(width_.output_extent + (is_odd() ? 1 : 0), columns());
  }
  bool is_odd() const { return size_ == 2 && width_.output_extent % 2 != 0; }
  bool is_shifted() const { return size_ == 2 && !begin_at_multiples_of(2); }
  bool is_padded() const { return is_padded(height_) || is_padded(width_); }
  /// Words that are loaded and stored at once.
  std::uint64_t loaded() const {
    return begin_at_multiples_of(16 / size_) ? 4 : begin_at_multiples_of(8 / size_) ? 2 : 1;
  }
  std::uint64_t stored() const {
    return width_.output_extent % columns() == 0 ? columns() / per_word() : 1;
  }
  /// Columns whose windows a thread joins, the elements that these reach, and the words of them.
  std::uint64_t span() const { return columns() + (is_odd() ? 1 : 0); }
  std::uint64_t reach() const { return (span() - 1) * width_.stride + width_.window; }
  std::uint64_t words() const {
    const std::uint64_t words = size_ == 4 ? reach() : (reach() + (is_shifted() ? 1 : 0) + 1) / 2;
    return divided_up(words, loaded()) * loaded();
  }

 private:
  std::uint64_t per_word() const { return 4 / size_; }

  // How many elements in front of its row the first thread begins.
  Int before() const {
    return width_.start_padding + (is_odd() ? static_cast<Int>(width_.stride) : 0);
  }

  // Whether every thread begins at a multiple of so many elements in every row.
  bool begin_at_multiples_of(std::uint64_t elements) const {
    const auto is_multiple = [&](std::uint64_t stride) { return stride % elements == 0; };
    return std::all_of(windows_.strides.begin(), windows_.strides.end(), is_multiple) &&
           before() % static_cast<Int>(elements) == 0 &&
           (column_blocks() == 1 || is_multiple(columns() * width_.stride));
  }

  static bool is_padded(const WalkedAxis& axis) {
    const auto end = static_cast<Int>((axis.output_extent - 1) * axis.stride + axis.window);
    return axis.start_padding > 0 || end - axis.start_padding > static_cast<Int>(axis.input_extent);
  }

  // Whether loads in front of the first row and behind the last are in the input's buffer.
  bool fits_slack() const {
    if (!windows_.slack_bytes) return true;
    const auto slack = static_cast<Int>(*windows_.slack_bytes / size_);
    const auto last = static_cast<Int>((column_blocks() - 1) * columns() * width_.stride);
    const Int end = last - before() + static_cast<Int>(words() * per_word());
    return before() <= slack && end - static_cast<Int>(width_.input_extent) <= slack;
  }

  const WalkedWindows& windows_;
  const WalkedAxis& height_ = windows_.height;
  const WalkedAxis& width_ = windows_.width;
  std::uint64_t size_ = windows_.element_size;
};

// What a thread does for so many rows of outputs, with all loops counted as if none were unrolled.
std::uint64_t work_of(const WalkedWindows& windows, const Walker& walker, std::uint64_t rows) {
  const std::uint64_t height = windows.height.window;
  const std::uint64_t columns = walker.columns() + 1, span = walker.span() + 1;
  const std::uint64_t input_row = 2 + 2 * (walker.words() + 1) + rows_ahead * (walker.words() + 1) +
                                  (walker.reach() + 1) * (2 + windows.element_work) +
                                  span * (2 + height);
  const std::uint64_t output_row =
      span + 3 * columns + columns * columns + columns * (2 + windows.output_work);
  const std::uint64_t input_rows = (rows - 1) * windows.height.stride + 2 * height;
  return windows.plane_work + 3 * columns + input_rows * input_row + rows * output_row + 16;
}

}  // namespace

std::optional<WindowWalk> window_walk(const WalkedWindows& windows) {
  const Walker walker(windows);
  const std::uint64_t outputs = windows.height.output_extent;
  if (!walker.fits() || windows.planes * outputs * windows.width.output_extent < outputs_least)
    return std::nullopt;
  WindowWalk walk{.column_blocks = walker.column_blocks()};
  const std::uint64_t row_threads = windows.planes * walk.column_blocks;
  walk.block_rows =
      std::min({rows_most, outputs,
                std::max(2 * windows.height.window, row_threads * outputs / threads_wanted)});
  while (walk.block_rows > 1 && work_of(windows, walker, walk.block_rows) > thread_work_limit)
    --walk.block_rows;
  walk.work = work_of(windows, walker, walk.block_rows);
  if (walk.work > thread_work_limit) return std::nullopt;
  walk.row_blocks = divided_up(outputs, walk.block_rows);
  walk.threads = row_threads * walk.row_blocks;
  const auto word = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  walk.specialization = {word(windows.element_size),
                         windows.operation,
                         word(windows.width.window),
                         word(windows.height.window),
                         word(windows.width.stride),
                         word(windows.height.stride),
                         word(walker.columns()),
                         word(walker.loaded()),
                         word(walker.stored()),
                         walker.is_padded() ? 1U : 0U,
                         walker.is_shifted() ? 1U : 0U,
                         walker.is_odd() ? 1U : 0U,
                         word(rows_ahead)};
  return walk;
}

}  // namespace dmlop::gpu
