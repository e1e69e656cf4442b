#include "gpu/kernels/window_walk.hpp"

#include <algorithm>
#include <numeric>

#include "base/divide.hpp"
#include "base/threshold.hpp"
#include "gpu/device.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/window_walk.hlsli"

DMLOP_SPECIALIZATION(WindowWalkSpecialization, WINDOW_WALK_SPECIALIZATION)

using Int = std::int64_t;

// What the kernel's arrays and compilers hold.
constexpr std::uint64_t window_most = 7;
constexpr std::uint64_t stride_x_most = 3;
constexpr std::uint64_t shared_rows_most = 32;
constexpr std::uint64_t side_by_side_rows_most = 16;
// Columns of windows that are not wide.
constexpr std::uint64_t narrow_most = 4;
// Rows and columns of windows that leave registers for a row more.
constexpr std::uint64_t small_most = 3;
// Each shape of windows is a pipeline of its own, which takes longer to make than few outputs.
constexpr Threshold outputs_least{std::uint64_t{1} << 14, 1};
// Fewer threads leave a device idle.
constexpr Threshold threads_wanted{std::uint64_t{1} << 17, 16};

/// What a thread needs of a row and owns of it, in elements.
class Walker {
 public:
  explicit Walker(const WalkedWindows& windows) : windows_(windows) {}

  bool fits() const {
    if (height_.dilation > 1 || width_.dilation > 1 || width_.input_stride != 1) return false;
    // Rows between windows would be loaded for nothing.
    return height_.window > 1 && height_.window_stride > 0 &&
           height_.window_stride <= height_.window && height_.window <= window_most &&
           width_.window <= window_most && width_.window_stride > 0 &&
           width_.window_stride <= stride_x_most && fits_slack();
  }

  /// A vector of each row. 16 bytes are stored faster. 8 need fewer registers, of which wide
  /// windows of FLOAT16 have too few, and strided ones of FLOAT32 where 8 make rows whole vectors.
  std::uint64_t columns() const {
    const bool is_wide = size_ == 2 && width_.window > narrow_most && !windows_.is_weighted;
    const bool is_apart = size_ == 4 && width_.window_stride > 1 && width_.output_extent % 2 == 0;
    return (is_wide || is_apart ? 8 : 16) / size_;
  }
  /// Elements at whose multiples rows of the output begin, as far as that matters.
  std::uint64_t alignment() const { return std::gcd(width_.output_extent, columns()); }
  bool is_aligned() const { return alignment() == columns(); }
  /// Threads store vectors that begin in front of their columns.
  std::uint64_t column_blocks() const {
    return divided_up(width_.output_extent + columns() - alignment(), columns());
  }
  bool is_shifted() const { return size_ == 2 && !rows_begin_at_multiples_of(2); }
  bool is_padded() const { return is_padded(height_) || is_padded(width_); }
  /// Rows that are loaded before they are needed, as far as there are registers for them.
  std::uint64_t rows_ahead() const {
    if (!shares_rows()) return 2;
    const bool is_small = std::max(height_.window, width_.window) <= small_most;
    return size_ == 4 && is_small && loaded() > 1 && !windows_.is_weighted ? 2 : 1;
  }
  /// The most rows of outputs that a thread should own.
  std::uint64_t rows_most() const {
    return shares_rows() ? shared_rows_most : side_by_side_rows_most;
  }
  /// Words that are loaded at once.
  std::uint64_t loaded() const { return loads().words; }
  std::uint64_t skipped() const { return loads().skipped; }
  /// Elements of a row that a thread needs, and the words of them.
  std::uint64_t reach() const { return (columns() - 1) * width_.window_stride + width_.window; }
  std::uint64_t words() const { return loads().count; }

 private:
  bool shares_rows() const { return height_.window_stride < height_.window; }
  std::uint64_t per_word() const { return 4 / size_; }

  bool rows_begin_at_multiples_of(std::uint64_t elements) const {
    return std::all_of(windows_.strides.begin(), windows_.strides.end(),
                       [&](std::uint64_t stride) { return stride % elements == 0; });
  }

  struct Loads {
    std::uint64_t words = 1;    // at once
    std::uint64_t skipped = 0;  // elements in front of those needed
    std::uint64_t count = 0;    // of words

    std::uint64_t instructions() const { return divided_up(count, words); }
  };

  Loads loads_of(std::uint64_t at_once) const {
    Loads loads{.words = at_once};
    const auto elements = static_cast<Int>(at_once * per_word());
    if (!is_shifted())
      loads.skipped =
          static_cast<std::uint64_t>((elements - width_.start_padding % elements) % elements);
    const std::uint64_t first = loads.skipped + (is_shifted() ? 1 : 0);
    loads.count = divided_up(first + reach(), per_word());
    return loads;
  }

  // The fewest loads that begin where they should for every thread in every row.
  Loads loads() const {
    Loads best = loads_of(1);
    for (const std::uint64_t at_once : {2U, 4U}) {
      const std::uint64_t elements = at_once * per_word();
      const bool is_multiple =
          column_blocks() == 1 || columns() * width_.window_stride % elements == 0;
      const Loads loads = loads_of(at_once);
      if (is_multiple && rows_begin_at_multiples_of(elements) &&
          loads.instructions() < best.instructions())
        best = loads;
    }
    return best;
  }

  static bool is_padded(const WalkedAxis& axis) {
    const auto end = static_cast<Int>((axis.output_extent - 1) * axis.window_stride + axis.window);
    return axis.start_padding > 0 || end - axis.start_padding > static_cast<Int>(axis.input_extent);
  }

  // Whether loads in front of the first row and behind the last are in the input's buffer.
  bool fits_slack() const {
    if (!windows_.slack_bytes) return true;
    const auto slack = static_cast<Int>(*windows_.slack_bytes / size_);
    const auto last =
        static_cast<Int>((width_.output_extent - 1) / columns() * columns() * width_.window_stride);
    const Int begin = width_.start_padding + static_cast<Int>(skipped());
    const Int end = last - begin + static_cast<Int>((words() + 3) * per_word());
    return begin <= slack && end - static_cast<Int>(width_.input_extent) <= slack;
  }

  const WalkedWindows& windows_;
  const WalkedAxis& height_ = windows_.height;
  const WalkedAxis& width_ = windows_.width;
  std::uint64_t size_ = size_of(windows_.data_type);
};

// What a thread does for so many rows of outputs, with all loops counted as if none were unrolled.
std::uint64_t work_of(const WalkedWindows& windows, const Walker& walker, std::uint64_t rows) {
  const std::uint64_t height = windows.height.window;
  constexpr std::uint64_t storing = 64;  // the loops of store_results()
  const std::uint64_t columns = walker.columns() + 1;
  const std::uint64_t input_row = 2 + (2 + walker.rows_ahead()) * (walker.words() + 1) +
                                  (walker.reach() + 1) * (2 + windows.element_work) +
                                  columns * (2 + 2 * height);
  const std::uint64_t output_row = storing + columns * (2 + windows.output_work);
  const std::uint64_t input_rows = (rows - 1) * windows.height.window_stride + 2 * height;
  return windows.plane_work + 3 * columns + input_rows * input_row + rows * output_row + 16;
}

}  // namespace

WalkedAxis walked(const WindowAxis& axis) {
  const auto& windows = std::get<Windows>(axis.reach);
  return {.input_extent = axis.input_extent,
          .output_extent = axis.output_extent,
          .input_stride = axis.input_stride,
          .window = windows.size,
          .window_stride = windows.stride,
          .dilation = windows.dilation,
          .start_padding = static_cast<Int>(windows.start_padding)};
}

std::optional<WindowWalk> window_walk(const WalkedWindows& windows) {
  const Walker walker(windows);
  const std::uint64_t outputs = windows.height.output_extent;
  if (!walker.fits() || windows.planes * outputs * windows.width.output_extent < outputs_least)
    return std::nullopt;
  WindowWalk walk{.column_blocks = walker.column_blocks()};
  const std::uint64_t row_threads = windows.planes * walk.column_blocks;
  walk.block_rows =
      std::min({walker.rows_most(), outputs,
                std::max(2 * windows.height.window, row_threads * outputs / threads_wanted)});
  while (walk.block_rows > 1 && work_of(windows, walker, walk.block_rows) > thread_work_limit)
    --walk.block_rows;
  // As many for each.
  walk.block_rows = divided_up(outputs, divided_up(outputs, walk.block_rows));
  walk.work = work_of(windows, walker, walk.block_rows);
  if (walk.work > thread_work_limit) return std::nullopt;
  walk.row_blocks = divided_up(outputs, walk.block_rows);
  walk.threads = row_threads * walk.row_blocks;
  // The first thread of each group stores nothing.
  if (walker.is_aligned()) {
    walk.variant = "_aligned";
  } else {
    walk.threads += 1 + (walk.threads - 1) / (group_threads - 1);
  }
  walk.specialization =
      words_of(WindowWalkSpecialization{.IS_FLOAT16 = is_float16(windows.data_type),
                                        .OPERATION = windows.operation,
                                        .WIDTH = windows.width.window,
                                        .HEIGHT = windows.height.window,
                                        .STRIDE_X = windows.width.window_stride,
                                        .STRIDE_Y = windows.height.window_stride,
                                        .COLUMNS = walker.columns(),
                                        .LOADED = walker.loaded(),
                                        .IS_PADDED = walker.is_padded(),
                                        .IS_SHIFTED = walker.is_shifted(),
                                        .ALIGNMENT = walker.alignment(),
                                        .AHEAD = walker.rows_ahead(),
                                        .SKIPPED = walker.skipped()});
  return walk;
}

}  // namespace dmlop::gpu::kernels
