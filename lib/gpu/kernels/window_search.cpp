#include "gpu/kernels/window_search.hpp"

#include <algorithm>
#include <bit>

#include "base/threshold.hpp"
#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/shared_taps.hpp"
#include "gpu/kernels/window_walk.hpp"
#include "ops/kernels/strided_axes.hpp"
#include "ops/taps.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/window.hlsli"

DMLOP_SPECIALIZATION(ResampleWalkSpecialization, RESAMPLE_WALK_SPECIALIZATION)
DMLOP_SPECIALIZATION(WindowSpecialization, WINDOW_SPECIALIZATION)

constexpr std::uint64_t number_limit = std::uint64_t{1} << 31;  // of what a kernel adds up
constexpr std::uint64_t table_outputs_most = std::uint64_t{1} << 22;
constexpr std::uint64_t table_words_most = std::uint64_t{1} << 24;
constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 28;
constexpr std::size_t axes_most = 8;
constexpr std::size_t nested_axes = 3;  // the kernel's loops

// Fewer threads than these leave a device idle, so that large windows are cut into parts...
constexpr std::uint64_t threads_wanted = std::uint64_t{1} << 16;
// ... of no fewer elements than these.
constexpr Threshold part_elements_least{128, 5};
constexpr Threshold part_columns_most{32768, 3};
constexpr Threshold part_work_most{50'000, 90};

// Of windows that are found four at once: the widest, and the shortest rows.
constexpr std::uint64_t quick_width_most = 8;
constexpr std::uint64_t quick_extent_least = 4;

// Of a thread that walks down: columns, those whose elements it loads as words, and rows.
constexpr std::uint64_t walk_columns = 4;
constexpr std::uint64_t wide_columns_bytes = 16;
constexpr std::uint64_t walk_rows_most = 16;

constexpr const char* too_large = "its windows are too large for a GPU kernel";
constexpr const char* too_long = "its axes are too long for a GPU kernel";

/// An axis and what stands around it.
struct PlacedAxis {
  WindowAxis axis;
  std::uint64_t output_stride = 1;  // of the packed output
  std::uint64_t place_stride = 1;   // of the packed input
};

bool is_plain(const WindowAxis& axis) {
  return std::holds_alternative<Windows>(axis.reach) && !axis.is_transposed;
}

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

/// The axes that are copied and those with windows.
struct Axes {
  StridedAxes copied;  // operands: the packed output, the input, the packed input; none if they are
                       // of one index
  std::vector<PlacedAxis> windowed;

  explicit Axes(const std::vector<WindowAxis>& axes) {
    std::uint64_t output_stride = 1, place_stride = 1;
    for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
      if (is_copied(*axis)) {
        copied.push_back({axis->output_extent, {output_stride, axis->input_stride, place_stride}});
      } else {
        windowed.push_back({*axis, output_stride, place_stride});
      }
      output_stride *= axis->output_extent;
      place_stride *= axis->input_extent;
    }
    std::reverse(windowed.begin(), windowed.end());
    std::reverse(copied.begin(), copied.end());
    copied = merged(copied);
    if (elements_of(copied) == 1) copied.clear();
  }

  /// The windowed axis that the kernel has at `slot` of 8; none in front of the first.
  const PlacedAxis* at(std::size_t slot) const {
    const std::size_t missing = axes_most - windowed.size();
    return slot < missing ? nullptr : &windowed[slot - missing];
  }
  std::size_t outer() const { return windowed.size() - std::min(windowed.size(), nested_axes); }
};

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

/// The rows and columns of the largest window.
struct WindowSize {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
  std::uint64_t table_words = 0;
};

WindowSize size_of(const Axes& axes) {
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

std::uint64_t elements_of(const WindowSearch& search) {
  std::uint64_t count = 1;
  for (const WindowAxis& axis : search.axes) count *= axis.output_extent;
  return count;
}

/// How windows are cut into parts, and what a thread does.
struct Parts {
  std::uint64_t count = 1;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t column_parts = 1;
  std::uint64_t part_work = 0;  // of a thread that reduces a part or, where windows are whole, them
  std::uint64_t final_work = 0;  // of one that puts parts together
  std::uint64_t per_thread = 1;  // outputs

  bool are_whole() const { return count == 1; }
};

// Of a part with so many rows and columns: the loops over axes, rows and columns.
std::uint64_t part_work(const Axes& axes, std::uint64_t rows, std::uint64_t columns) {
  const std::uint64_t around = axes.copied.size() + 3 * (axes.outer() + 1) + 4;
  return around + rows * (columns + 2 + (axes.outer() > 0 ? axes.outer() + 1 : 0));
}

Parts parts_of(const WindowSearch& search, const Axes& axes, const WindowSize& size) {
  const std::uint64_t bytes =
      std::min(dmlop::size_of(search.data_type),
               search.index_type ? dmlop::size_of(*search.index_type) : std::size_t{16});
  Parts parts{.per_thread = bytes_per_thread / bytes};
  const std::uint64_t elements = elements_of(search);
  const std::uint64_t all = size.rows * size.columns;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(
      threads_wanted / elements, 1, std::max<std::uint64_t>(1, all / part_elements_least));
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

/// How a thread finds four outputs of a row at once, where it can.
struct Quick {
  std::uint64_t width = 0;       // elements of a row that an output reaches; 0 where it cannot
  bool is_side_by_side = false;  // windows that move by one element
  bool has_taps = false;         // with weights, instead of windows
};

// The elements of a row that each output reaches: one or two side by side; otherwise 0.
std::uint64_t few_taps(const WindowAxis& axis) {
  const Taps taps(axis);
  std::uint64_t most = 0;
  for (std::uint64_t o = 0; o < axis.output_extent; ++o) {
    const TapRun run = taps.of(o);
    if (run.count == 0 || run.count > 2) return 0;
    most = std::max(most, run.count);
  }
  return most;
}

Quick quick_of(const WindowSearch& search, const Axes& axes) {
  if (!is_known_float(search.data_type) || search.index_type || search.quantization != 0 ||
      axes.outer() > 0 || axes.windowed.empty())
    return {};
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

// Whether the last two axes, and no others, have windows, of which threads can walk down columns.
bool has_planes(const WindowSearch& search, const Axes& axes) {
  if (!is_known_float(search.data_type) || search.index_type || search.quantization != 0 ||
      axes.windowed.size() != 2)
    return false;
  const PlacedAxis& height = axes.windowed[0];
  const PlacedAxis& width = axes.windowed[1];
  return width.output_stride == 1 && height.output_stride == width.axis.output_extent;
}

std::uint64_t planes_of(const WindowSearch& search, const Axes& axes) {
  return elements_of(search) /
         (axes.windowed[0].axis.output_extent * axes.windowed[1].axis.output_extent);
}

// Of shaders/pooling_walk.hlsl.
std::optional<WindowWalk> pooling_walk_of(const WindowSearch& search, const Axes& axes) {
  if (!has_planes(search, axes)) return std::nullopt;
  const PlacedAxis &height = axes.windowed[0], &width = axes.windowed[1];
  if (!is_plain(height.axis) || !is_plain(width.axis)) return std::nullopt;
  WalkedWindows windows{.data_type = search.data_type,
                        .operation = search.is_maximum ? 0U : 1U,
                        .height = walked(height.axis),
                        .width = walked(width.axis),
                        .planes = planes_of(search, axes),
                        .strides = {height.axis.input_stride},
                        .plane_work = axes.copied.size()};
  for (const StridedAxis& copied : axes.copied) windows.strides.push_back(copied.strides[1]);
  return window_walk(windows);
}

/// How threads walk down the rows of the output (shaders/resample_walk.hlsl).
struct ResampleWalk {
  std::uint64_t column_blocks = 0;
  std::uint64_t row_blocks = 0;
  std::uint64_t block_rows = 0;
  std::uint64_t columns = walk_columns;
  std::uint64_t stored = 1;  // words at once
  std::uint64_t threads = 0;
  bool has_pairs = false;
  SharedTaps shared;
};

// Where rows begin with whole words. Pairs of FLOAT32 are no faster so.
SharedTaps shared_taps_of(const Axes& axes, std::uint64_t size, std::uint64_t taps) {
  if (size == 4 && taps == 2) return {};
  const std::uint64_t per_word = 4 / size;
  const auto is_odd = [&](std::uint64_t stride) { return stride % per_word != 0; };
  const WindowAxis& width = axes.windowed[1].axis;
  if (width.input_stride != 1 || is_odd(axes.windowed[0].axis.input_stride) ||
      std::any_of(axes.copied.begin(), axes.copied.end(),
                  [&](const StridedAxis& copied) { return is_odd(copied.strides[1]); }))
    return {};
  return shared_taps(width, wide_columns_bytes / size, per_word);
}

std::optional<ResampleWalk> resample_walk_of(const WindowSearch& search, const Axes& axes) {
  if (!has_planes(search, axes) || search.is_maximum) return std::nullopt;
  const WindowAxis& height = axes.windowed[0].axis;
  const WindowAxis& width = axes.windowed[1].axis;
  const std::uint64_t size = dmlop::size_of(search.data_type);
  const std::uint64_t outputs = width.output_extent;
  if (is_plain(height) || is_plain(width) || outputs * size % 4 != 0) return std::nullopt;
  const std::uint64_t taps = few_taps(width);
  if (taps == 0 || few_taps(height) == 0) return std::nullopt;
  ResampleWalk walk{.has_pairs = taps > 1, .shared = shared_taps_of(axes, size, taps)};
  if (walk.shared.words > 0) walk.columns = wide_columns_bytes / size;
  walk.column_blocks = divided_up(outputs, walk.columns);
  if (outputs % walk.columns == 0) walk.stored = walk.columns * size / 4;
  const std::uint64_t row_threads = planes_of(search, axes) * walk.column_blocks;
  walk.block_rows = std::clamp<std::uint64_t>(row_threads * height.output_extent / threads_wanted,
                                              1, walk_rows_most);
  walk.row_blocks = divided_up(height.output_extent, walk.block_rows);
  walk.threads = row_threads * walk.row_blocks;
  return walk;
}

std::uint64_t scratch_bytes(const WindowSearch& search, const Parts& parts) {
  return elements_of(search) * parts.count * (search.is_maximum ? 16 : 4);
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
  const Taps taps(placed.axis);
  for (std::uint64_t o = 0; o < placed.axis.output_extent; ++o) {
    const TapRun run = taps.of(o);
    words.push_back(word(run.first));
    for (std::uint64_t k = 0; k < 2; ++k) {
      const double weight = k < run.count ? taps.weight(o, run, k) : 0;
      words.push_back(std::bit_cast<uint>(static_cast<float>(weight)));
    }
  }
}

std::vector<uint> words_of(const WindowSearch& search, const Axes& axes, const Parts& parts,
                           const Quick& quick) {
  std::vector<uint> words(at_tables);
  words[at_elements] = word(elements_of(search));
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
    const PlacedAxis* placed = axes.at(slot);
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

// The words that kernels which walk down share.
template <typename Walk>
std::vector<uint> words_of(const Axes& axes, const Walk& walk) {
  std::vector<uint> words(at_tables);
  words[at_parts] = word(walk.row_blocks);
  words[at_part_rows] = word(walk.block_rows);
  words[at_column_parts] = word(walk.column_blocks);
  set_copied(words, axes.copied);
  return words;
}

constexpr std::size_t at_walked = at_windows + (last_windows + 1) * window_words;

uint last_vector(const WindowSearch& search) {
  std::uint64_t last = 0;
  for (const WindowAxis& axis : search.axes) last += (axis.input_extent - 1) * axis.input_stride;
  return word(last * dmlop::size_of(search.data_type) / bytes_per_thread);
}

Dispatch dispatch_of(const WindowSearch& search, const Axes& axes, const WindowWalk& walk) {
  Dispatch dispatch;
  dispatch.kernel = "pooling_walk" + walk.variant;
  dispatch.specialization = walk.specialization;
  dispatch.parameters = words_of(axes, walk);
  for (std::size_t i = 0; i < 2; ++i)
    set_window(dispatch.parameters, at_walked + i * window_words, axes.windowed[i]);
  dispatch.parameters[at_part_columns] = last_vector(search);
  dispatch.inputs = {0};
  dispatch.stages.emplace_back(0, walk.threads, walk.work);
  return dispatch;
}

// The table of set_few_taps with the weights that fit what threads load.
void set_weights(std::vector<uint>& words, std::size_t at, const SharedTaps& shared) {
  std::size_t row = words[at + axis_table];
  for (const PairOfWeights& pair : shared.weights) {
    for (std::size_t k = 0; k < 2; ++k)
      words[row + 1 + k] = std::bit_cast<uint>(static_cast<float>(pair[k]));
    row += tap_words;
  }
}

Dispatch dispatch_of(const WindowSearch& search, const Axes& axes, const ResampleWalk& walk) {
  Dispatch dispatch;
  dispatch.kernel = "resample_walk";
  const bool has_pairs =
      walk.has_pairs || std::any_of(walk.shared.weights.begin(), walk.shared.weights.end(),
                                    [](const PairOfWeights& pair) { return pair[1] != 0; });
  set_specialization(dispatch, ResampleWalkSpecialization{.TYPE = known_type(search.data_type),
                                                          .COLUMNS = walk.columns,
                                                          .STORED = walk.stored,
                                                          .HAS_PAIRS = has_pairs,
                                                          .WORDS = walk.shared.words,
                                                          .BEFORE = wrapped(walk.shared.before),
                                                          .ADVANCE = walk.shared.advance,
                                                          .OFFSETS = walk.shared.offsets});
  dispatch.parameters = words_of(axes, walk);
  for (std::size_t i = 0; i < 2; ++i)
    set_few_taps(dispatch.parameters, at_walked + i * window_words, axes.windowed[i]);
  set_weights(dispatch.parameters, at_walked + window_words, walk.shared);
  dispatch.parameters[at_part_columns] = last_vector(search);
  dispatch.inputs = {0};
  const std::uint64_t row_work = 1 + 8 * (walk.columns + 1) + walk.shared.words;
  dispatch.stages.emplace_back(0, walk.threads,
                               axes.copied.size() + 2 + walk.columns + walk.block_rows * row_work);
  return dispatch;
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

Dispatch dispatch_of(const WindowSearch& search, const Axes& axes, const Parts& parts) {
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
  const std::uint64_t elements = elements_of(search);
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

bool is_copied(const WindowAxis& axis) {
  const auto* windows = std::get_if<Windows>(&axis.reach);
  return windows != nullptr && windows->size == 1 && windows->stride == 1 &&
         windows->start_padding == 0 && axis.output_extent <= axis.input_extent;
}

Dispatches dispatches_of(const WindowSearch& search) {
  if (const std::string refusal = axes_refusal(search); !refusal.empty()) return refused(refusal);
  const Axes axes(search.axes);
  const WindowSize size = size_of(axes);
  if (size.table_words > table_words_most) return refused(too_long);
  if (size.rows >= number_limit || size.rows * size.columns >= number_limit)
    return refused(too_large);
  const Parts parts = parts_of(search, axes, size);
  if (!parts.are_whole() &&
      (parts.final_work > thread_work_limit || scratch_bytes(search, parts) > scratch_bytes_most))
    return refused(too_large);
  if (const auto walk = pooling_walk_of(search, axes)) return dispatch_of(search, axes, *walk);
  if (const auto walk = resample_walk_of(search, axes)) return dispatch_of(search, axes, *walk);
  return dispatch_of(search, axes, parts);
}

}  // namespace dmlop::gpu::kernels
