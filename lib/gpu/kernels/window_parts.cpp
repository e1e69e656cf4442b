#include "gpu/kernels/window_parts.hpp"

#include <algorithm>

#include "base/threshold.hpp"
#include "gpu/kernels/parameters.hpp"
#include "ops/taps.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/window.hlsli"

constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 28;

// Fewer threads than these leave a device idle, so that large windows are cut into parts...
constexpr std::uint64_t threads_wanted = std::uint64_t{1} << 16;
// ... of no fewer elements than these.
constexpr Threshold part_elements_least{128, 5};
constexpr Threshold part_columns_most{32768, 3};
constexpr Threshold part_work_most{50'000, 90};

/// The most taps of an output, and the words of the table.
struct TapCounts {
  std::uint64_t most = 1;
  std::uint64_t words = 0;
};

TapCounts count_taps(const WindowAxis& axis) {
  if (is_plain(axis)) {
    const auto& windows = std::get<Windows>(axis.reach);
    return {.most = std::max<std::uint64_t>(
                1, std::min(windows.size, divided_up(axis.input_extent, windows.dilation)))};
  }
  const Taps taps(axis);
  TapCounts counts{.words = axis.output_extent * tap_words};
  for (std::uint64_t o = 0; o < axis.output_extent; ++o) {
    const std::uint64_t count = taps.of(o).count;
    counts.most = std::max(counts.most, count);
    counts.words += count;
  }
  return counts;
}

// Of a part with so many rows and columns: the loops over axes, rows and columns.
std::uint64_t part_work(const WindowAxes& axes, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t around = axes.copied.size() + 3 * (axes.outer() + 1) + 4;
  return around + rows * (columns + 2 + (axes.outer() > 0 ? axes.outer() + 1 : 0));
}

}  // namespace

bool WindowSize::is_too_large() const {
  return rows >= number_limit || rows * columns >= number_limit;
}

WindowSize size_of(const WindowAxes& axes) {
  WindowSize size;
  for (std::size_t i = 0; i < axes.windowed.size(); ++i) {
    const TapCounts counts = count_taps(axes.windowed[i].axis);
    size.table_words += counts.words;
    if (i + 1 == axes.windowed.size()) {
      size.columns = counts.most;
    } else {
      size.rows = std::min(number_limit, size.rows * counts.most);
    }
  }
  return size;
}

SearchParts parts_of(const WindowSearch& search, const WindowAxes& axes, const WindowSize& size) {
  const std::uint64_t bytes =
      std::min(dmlop::size_of(search.data_type),
               search.index_type ? dmlop::size_of(*search.index_type) : std::size_t{16});
  SearchParts parts{.per_thread = bytes_per_thread / bytes};
  const std::uint64_t all = size.rows * size.columns;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      threads_wanted / search.outputs(), 1, std::max<std::uint64_t>(1, all / part_elements_least));
  const std::uint64_t whole = parts.per_thread * part_work(axes, size.rows, size.columns) + 1;
  if (whole <= thread_work_limit && (wanted == 1 || size.rows == 1)) {
    parts.part_work = whole;
    return parts;
  }
  parts.columns = std::min<std::uint64_t>(size.columns, part_columns_most);
  parts.column_parts = divided_up(size.columns, parts.columns);
  // Parts are in the order of elements, so that the first of equal ones is found.
  const std::uint64_t rows_most =
      parts.column_parts > 1 ? 1
                             : std::max<std::uint64_t>(1, part_work_most / (parts.columns + 10));
  // No more parts than a thread can put together.
  const std::uint64_t count = std::min(wanted, part_work_most / parts.per_thread);
  parts.rows = std::min(rows_most, divided_up(size.rows, count));
  parts.count = divided_up(size.rows, parts.rows) * parts.column_parts;
  parts.part_work = part_work(axes, parts.rows, parts.columns);
  parts.final_work = parts.per_thread * (parts.count + 2 + part_work(axes, 0, 0)) + 1;
  return parts;
}

std::uint64_t scratch_bytes(const WindowSearch& search, const SearchParts& parts) {
  return search.outputs() * parts.count * (search.is_maximum ? 16 : 4);
}

bool can_run(const WindowSearch& search, const SearchParts& parts) {
  return parts.are_whole() || (parts.final_work <= thread_work_limit &&
                               scratch_bytes(search, parts) <= scratch_bytes_most);
}

}  // namespace dmlop::gpu::kernels
