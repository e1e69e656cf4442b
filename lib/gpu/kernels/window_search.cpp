#include "gpu/kernels/window_search.hpp"

#include <algorithm>
#include <bit>

#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/pooling_walk.hpp"
#include "gpu/kernels/resample_walk.hpp"
#include "gpu/kernels/window_axes.hpp"
#include "gpu/kernels/window_parts.hpp"
#include "ops/taps.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/window.hlsli"

DMLOP_SPECIALIZATION(WindowSpecialization, WINDOW_SPECIALIZATION)

constexpr std::uint64_t table_outputs_most = std::uint64_t{1} << 22;
constexpr std::uint64_t table_words_most = std::uint64_t{1} << 24;
constexpr std::size_t axes_most = 8;

// Of windows that are found four at once: the widest, and the shortest rows.
constexpr std::uint64_t quick_width_most = 8;
constexpr std::uint64_t quick_extent_least = 4;

constexpr const char* too_large = "its windows are too large for a GPU kernel";
constexpr const char* too_long = "its axes are too long for a GPU kernel";

bool fits(const WindowAxis& axis) {
  const auto* windows = std::get_if<Windows>(&axis.reach);
  if (windows == nullptr) return true;
  std::uint64_t left = number_limit;
  for (const std::uint64_t number :
       {axis.input_extent, windows->start_padding, windows->dilation, windows->size}) {
    if (number >= left) return false;
    left -= number;
  }
  return axis.output_extent * windows->stride < number_limit &&
         windows->size * windows->dilation < number_limit;
}

/// How a thread finds four outputs of a row at once, where it can.
struct Quick {
  std::uint64_t width = 0;       // elements of a row that an output reaches; 0 where it cannot
  bool is_side_by_side = false;  // windows that move by one element
  bool has_taps = false;         // with weights, instead of windows
};

Quick quick_of(const WindowSearch& search, const WindowAxes& axes) {
  if (!search.is_of_floats_alone() || axes.outer() > 0 || axes.windowed.empty()) return {};
  const PlacedAxis& width = axes.windowed.back();
  if (width.output_stride != 1 || width.axis.output_extent < quick_extent_least) return {};
  if (!is_plain(width.axis))
    return {.width = search.is_maximum ? 0 : few_taps(width.axis), .has_taps = true};
  const auto is_unfit = [](const PlacedAxis& placed) { return !is_plain(placed.axis); };
  if (std::any_of(axes.windowed.begin(), axes.windowed.end(), is_unfit)) return {};
  const auto& windows = std::get<Windows>(width.axis.reach);
  if (width.axis.input_stride != 1 || windows.dilation != 1 || windows.size > quick_width_most ||
      windows.size > width.axis.input_extent)
    return {};
  return {.width = windows.size, .is_side_by_side = windows.stride == 1};
}

/// Writes the words of one axis.
void set_common(std::vector<uint>& words, std::size_t at, const PlacedAxis& placed) {
  words[at + axis_output_stride] = word(placed.output_stride);
  words[at + axis_output_extent] = word(placed.axis.output_extent);
  words[at + axis_input_stride] = word(placed.axis.input_stride);
  words[at + axis_place_stride] = static_cast<uint>(placed.place_stride);
}

// Innermost first.
void set_copied(std::vector<uint>& words, const StridedAxes& copied) {
  words[at_copied_axes] = word(copied.size());
  std::size_t at = at_copied;
  for (auto axis = copied.rbegin(); axis != copied.rend(); ++axis, at += copied_words) {
    set_common(words, at,
               {{.output_extent = axis->extent, .input_stride = axis->strides[1]},
                axis->strides[0],
                axis->strides[2]});
  }
}

void add_table(std::vector<uint>& words, const WindowAxis& axis) {
  const Taps taps(axis);
  const std::size_t rows = words.size();
  words.resize(rows + axis.output_extent * tap_words);
  for (std::uint64_t o = 0; o < axis.output_extent; ++o) {
    const TapRun run = taps.of(o);
    const std::size_t row = rows + o * tap_words;
    words[row] = word(run.count == 0 ? 0 : run.first);
    words[row + 1] = word(run.count);
    words[row + 2] = word(words.size());
    for (std::uint64_t k = 0; k < run.count; ++k)
      words.push_back(std::bit_cast<uint>(static_cast<float>(taps.weight(o, run, k))));
  }
}

void set_window(std::vector<uint>& words, std::size_t at, const PlacedAxis& placed) {
  const WindowAxis& axis = placed.axis;
  set_common(words, at, placed);
  if (!is_plain(axis)) {
    words[at + axis_table] = word(words.size());
    return add_table(words, axis);
  }
  const auto& windows = std::get<Windows>(axis.reach);
  words[at + axis_size] = word(windows.size);
  words[at + axis_stride] = word(windows.stride);
  words[at + axis_dilation] = word(windows.dilation);
  words[at + axis_start] = word(windows.start_padding);
  words[at + axis_end] = word(windows.start_padding + axis.input_extent);
  words[at + axis_divisor] = static_cast<uint>(windows.divisor);
}

// For each output its first element, the weight of that, and that of the next one, which may be 0.
void set_few_taps(std::vector<uint>& words, std::size_t at, const PlacedAxis& placed) {
  set_common(words, at, placed);
  words[at + axis_table] = word(words.size());
  for (const FewTaps& taps : list_few_taps(placed.axis)) {
    words.push_back(word(taps.first));
    for (const double weight : taps.weights)
      words.push_back(std::bit_cast<uint>(static_cast<float>(weight)));
  }
}

/// The windowed axis that the kernel has at `slot` of 8; none in front of the first.
const PlacedAxis* axis_at(const WindowAxes& axes, std::size_t slot) {
  const std::size_t missing = axes_most - axes.windowed.size();
  return slot < missing ? nullptr : &axes.windowed[slot - missing];
}

std::vector<uint> words_of(const WindowSearch& search, const WindowAxes& axes,
                           const SearchParts& parts, const Quick& quick) {
  std::vector<uint> words(at_tables);
  words[at_elements] = word(search.outputs());
  words[at_outer_axes] = word(axes.outer());
  words[at_parts] = word(parts.count);
  words[at_part_rows] = word(parts.rows);
  words[at_part_columns] = word(parts.columns);
  words[at_column_parts] = word(parts.column_parts);
  set_copied(words, axes.copied);
  // Outer axes stand at the beginning, the last three at the end.
  for (std::size_t i = 0; i < axes.outer(); ++i)
    set_window(words, at_windows + i * window_words, axes.windowed[i]);
  for (std::size_t slot = last_windows; slot < axes_most; ++slot) {
    const PlacedAxis* placed = axis_at(axes, slot);
    const std::size_t at = at_windows + slot * window_words;
    if (slot + 1 == axes_most && quick.width > 0 && quick.has_taps) {
      set_few_taps(words, at, *placed);
    } else {
      // In place of an axis that is not there: one element.
      set_window(words, at, placed ? *placed : PlacedAxis{});
    }
  }
  return words;
}

// Why the axes, each by itself, are none that a GPU kernel takes; "" where they are.
std::string axes_refusal(const WindowSearch& search) {
  if (search.axes.size() > axes_most) return "it has more than 8 dimensions";
  std::uint64_t table_outputs = 0, places = 1;
  for (const WindowAxis& axis : search.axes) {
    if (!fits(axis)) return too_large;
    if (!is_copied(axis) && !is_plain(axis)) table_outputs += axis.output_extent;
    places = std::min(number_limit * 2, places * axis.input_extent);
  }
  if (search.index_type && places >= number_limit * 2) return "its places do not fit 32 bits";
  return table_outputs > table_outputs_most ? too_long : "";
}

Dispatch dispatch_of(const WindowSearch& search, const WindowAxes& axes, const SearchParts& parts) {
  const bool has_tables =
      std::any_of(axes.windowed.begin(), axes.windowed.end(),
                  [](const PlacedAxis& placed) { return !is_plain(placed.axis); });
  const Quick quick = parts.are_whole() ? quick_of(search, axes) : Quick{};
  Dispatch dispatch;
  dispatch.kernel = "window";
  set_specialization(
      dispatch,
      WindowSpecialization{.TYPE = known_type(search.data_type),
                           .INDEX_TYPE = search.index_type ? any_type(*search.index_type) : 0,
                           .IS_MAXIMUM = search.is_maximum,
                           .HAS_TABLES = has_tables,
                           .HAS_OUTER = axes.outer() > 0,
                           .IS_IN_PARTS = !parts.are_whole(),
                           .QUANTIZATION = search.quantization,
                           .QUICK_WIDTH = quick.width,
                           .QUICK_STRIDE = quick.is_side_by_side,
                           .QUICK_TAPS = quick.has_taps});
  dispatch.parameters = words_of(search, axes, parts, quick);
  dispatch.inputs = {0};
  const std::uint64_t elements = search.outputs();
  if (!parts.are_whole()) {
    dispatch.scratch_bytes = scratch_bytes(search, parts);
    dispatch.stages.emplace_back(0, elements * parts.count, parts.part_work);
  }
  dispatch.stages.emplace_back(0, divided_up(elements, parts.per_thread),
                               parts.are_whole() ? parts.part_work : parts.final_work);
  dispatch.stages.back().step = parts.are_whole() ? 0 : 1;
  return dispatch;
}

}  // namespace

std::uint64_t WindowSearch::outputs() const {
  std::uint64_t count = 1;
  for (const WindowAxis& axis : axes) count *= axis.output_extent;
  return count;
}

bool WindowSearch::is_of_floats_alone() const {
  return is_known_float(data_type) && !index_type && quantization == 0;
}

Dispatches dispatches_of(const WindowSearch& search) {
  if (const std::string refusal = axes_refusal(search); !refusal.empty()) return refused(refusal);
  const WindowAxes axes(search.axes);
  const WindowSize size = size_of(axes);
  if (size.table_words > table_words_most) return refused(too_long);
  if (size.is_too_large()) return refused(too_large);
  const SearchParts parts = parts_of(search, axes, size);
  if (!can_run(search, parts)) return refused(too_large);
  if (auto walk = pooling_walk(search, axes)) return std::move(*walk);
  if (auto walk = resample_walk(search, axes)) return std::move(*walk);
  return dispatch_of(search, axes, parts);
}

}  // namespace dmlop::gpu::kernels
