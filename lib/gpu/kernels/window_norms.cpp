#include "gpu/kernels/window_norms.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/window_axes.hpp"
#include "gpu/kernels/window_walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/window_norm.hlsli"

static_assert(SLACK_BYTES == slack_bytes);

DMLOP_SPECIALIZATION(WindowNormSpecialization, WINDOW_NORM_SPECIALIZATION)

/// The axes as the kernels have them: two that are copied, and three with windows.
struct NormWindows {
  DataType data_type;
  std::uint64_t p;
  std::array<std::uint64_t, 2> batch_extents{1, 1};  // batch, channel
  std::array<std::uint64_t, 2> batch_strides{0, 0};  // of the input, elements
  std::array<WalkedAxis, 3> axes{};                  // depth, height, width

  std::uint64_t output_elements() const {
    std::uint64_t count = batch_extents[0] * batch_extents[1];
    for (const WalkedAxis& axis : axes) count *= axis.output_extent;
    return count;
  }
};

// None where more axes have windows.
std::optional<NormWindows> windows_of(const WindowKernel& kernel) {
  NormWindows windows{.data_type = kernel.data_type, .p = kernel.p};
  const std::vector<WindowAxis>& axes = kernel.axes;
  std::size_t copied = 0;
  while (copied < 2 && copied + 1 < axes.size() && is_copied(axes[copied])) ++copied;
  if (axes.size() - copied > windows.axes.size()) return std::nullopt;
  auto to = windows.axes.rbegin();
  for (std::size_t i = axes.size(); i-- > copied;) *to++ = walked(axes[i]);
  for (std::size_t i = copied, at = 2; i-- > 0;) {
    windows.batch_extents[--at] = axes[i].output_extent;
    windows.batch_strides[at] = axes[i].input_stride;
  }
  return windows;
}

// The most elements of a window that are in the input.
std::uint64_t most_inside(const WalkedAxis& axis) {
  return std::min(axis.window, (axis.input_extent - 1) / axis.dilation + 1);
}

// The exponent as the kernels know it in advance.
std::uint64_t known_exponent(const NormWindows& kernel) {
  return kernel.p <= 3 ? kernel.p : 0;
}

// Iterations of the loop of a power (shaders/lp_norm.hlsli).
std::uint64_t power_work(const NormWindows& kernel) {
  if (kernel.p <= 3) return 0;
  return 1 + divided_up(static_cast<std::uint64_t>(std::bit_width(kernel.p)), 4);
}

// Iterations of loops over the rows of a window, each of which does `row_work`.
std::uint64_t rows_work(const NormWindows& kernel, std::uint64_t row_work) {
  const std::uint64_t planes = most_inside(kernel.axes[0]) + 1;
  const std::uint64_t rows = most_inside(kernel.axes[1]) + 1;
  return planes * (1 + rows * (1 + row_work));
}

// Two scaled sweeps over a window.
std::uint64_t scaled_work(const NormWindows& kernel) {
  const std::uint64_t power = power_work(kernel), width = kernel.axes[2].window;
  return rows_work(kernel, width + 1) + rows_work(kernel, (width + 1) * (1 + power)) + 2 * power;
}

// What a thread of shaders/window_norm.hlsl does at most, which takes whole windows: it sums those
// of all rows that its outputs stand in, and then each of them once more in two scaled sweeps.
std::uint64_t whole_windows_work(const NormWindows& kernel) {
  const std::uint64_t outputs = bytes_per_thread / size_of(kernel.data_type);
  const std::uint64_t power = power_work(kernel);
  const std::uint64_t width = kernel.axes[2].window;
  const std::uint64_t column_work = 1 + (outputs + 1) * power;
  const std::uint64_t chunks = width / 8 + 1;
  const std::uint64_t sums = rows_work(kernel, chunks + 1 + (width + 2 * chunks + 2) * column_work);
  const std::uint64_t scaled = scaled_work(kernel);
  const std::uint64_t output_rows = 1 + divided_up(outputs - 1, kernel.axes[2].output_extent);
  return (output_rows + 1) * (1 + sums) + outputs * power + (outputs + 1) * (1 + scaled);
}

// Whether one thread can take whole windows.
bool takes_whole_windows(const NormWindows& kernel) {
  // First, so that 64 bits hold their work.
  const auto& [depth, height, width] = kernel.axes;
  if (std::max({most_inside(depth), most_inside(height), width.window}) > thread_work_limit)
    return false;
  return whole_windows_work(kernel) <= thread_work_limit;
}

// How threads walk down the windows, where these lie over two axes of packed rows.
std::optional<WindowWalk> walk_of(const NormWindows& kernel) {
  const auto& [depth, height, width] = kernel.axes;
  const bool is_flat = depth.window == 1 && depth.start_padding == 0 &&
                       (depth.output_extent - 1) * depth.window_stride < depth.input_extent;
  if (!is_flat) return std::nullopt;
  WalkedWindows windows{
      .data_type = kernel.data_type,
      .operation = word(known_exponent(kernel)),
      .height = height,
      .width = width,
      .planes = kernel.batch_extents[0] * kernel.batch_extents[1] * depth.output_extent,
      .slack_bytes = slack_bytes,
      .element_work = power_work(kernel)};
  const auto add_stride = [&](std::uint64_t extent, std::uint64_t stride) {
    if (extent > 1) windows.strides.push_back(stride);
  };
  add_stride(kernel.batch_extents[0], kernel.batch_strides[0]);
  add_stride(kernel.batch_extents[1], kernel.batch_strides[1]);
  add_stride(depth.input_extent, depth.input_stride);
  add_stride(height.input_extent, height.input_stride);
  // The root, and at worst the whole window once more.
  windows.output_work = 4 * power_work(kernel) + scaled_work(kernel);
  return window_walk(windows);
}

// How the parts of a window cover it (shaders/window_norm_parts.hlsl).
struct WindowParts {
  // So few that a sum of them is exact but for the last place, and two rows of so many columns
  // that a thread can take them.
  static constexpr std::uint64_t elements_most = 4096;
  static constexpr std::uint64_t columns_most = 2048;

  std::uint64_t rows;     // of a part
  std::uint64_t columns;  // of a part
  std::uint64_t count;
  std::uint64_t work;  // of a part

  explicit WindowParts(const NormWindows& kernel) {
    const std::uint64_t all_rows = most_inside(kernel.axes[0]) * most_inside(kernel.axes[1]);
    const std::uint64_t width = most_inside(kernel.axes[2]);
    columns = divided_up(width, divided_up(width, columns_most));
    const std::uint64_t row_work = 1 + (columns + 1) * (2 + power_work(kernel));
    rows = std::min({all_rows, elements_most / columns, thread_work_limit / row_work - 1});
    count = divided_up(all_rows, rows) * divided_up(width, columns);
    work = (rows + 1) * row_work;
  }
};

// Each step of the kernel for so many outputs as the scratch has room for; then the next ones.
void add_part_stages(Dispatch& dispatch, const NormWindows& kernel, const WindowParts& parts) {
  constexpr std::uint64_t most = std::uint64_t{16} << 20;  // bytes that keep every device busy
  constexpr std::uint64_t multiple = 8;                    // outputs of a thread at the end
  constexpr std::uint64_t state_bytes = 16;                // of an output
  const std::uint64_t elements = kernel.output_elements();
  const std::uint64_t per_thread = bytes_per_thread / size_of(kernel.data_type);
  const std::uint64_t room = most / state_bytes / multiple * multiple;
  const std::uint64_t power = power_work(kernel);
  dispatch.scratch_bytes = std::min(room, elements) * state_bytes;
  for (std::uint64_t begin = 0; begin < elements; begin += room) {
    const std::uint64_t end = std::min(elements, begin + room);
    for (std::uint64_t step = 0; step < 2 * parts.count; ++step) {
      Stage stage(begin, end, parts.work);
      stage.step = word(step);
      stage.base = word(begin);
      dispatch.stages.push_back(stage);
    }
    Stage norms(begin / per_thread, divided_up(end, per_thread), 5 * (1 + 4 * power));
    norms.step = word(2 * parts.count);
    norms.base = word(begin);
    dispatch.stages.push_back(norms);
  }
}

WindowNormConstants constants_of(const NormWindows& kernel) {
  WindowNormConstants constants{.elements = word(kernel.output_elements())};
  constants.exponent = word(kernel.p);
  constants.channels = word(kernel.batch_extents[1]);
  constants.batch_stride = low_word(kernel.batch_strides[0]);
  constants.channel_stride = low_word(kernel.batch_strides[1]);
  const auto& [depth, height, width] = kernel.axes;
  const auto row = [](const WalkedAxis& axis) -> uint4 {
    return {word(axis.input_extent), word(axis.output_extent), low_word(axis.input_stride),
            word(axis.window)};
  };
  constants.depth = row(depth);
  constants.height = row(height);
  constants.width = row(width);
  constants.strides = {word(depth.window_stride), word(height.window_stride),
                       word(width.window_stride), word(depth.dilation)};
  constants.paddings = {wrapped(depth.start_padding), wrapped(height.start_padding),
                        wrapped(width.start_padding), word(height.dilation)};
  constants.width_dilation = word(width.dilation);
  return constants;
}

// Elements of the input.
std::uint64_t reach_of(const NormWindows& kernel) {
  std::uint64_t reach = 1;
  for (std::size_t i = 0; i < 2; ++i)
    reach += (kernel.batch_extents[i] - 1) * kernel.batch_strides[i];
  for (const WalkedAxis& axis : kernel.axes) reach += (axis.input_extent - 1) * axis.input_stride;
  return reach;
}

// Whether 32 bits hold window sizes and paddings, with room to add them.
bool fits_32_bits(const NormWindows& kernel) {
  constexpr std::uint64_t most = std::uint64_t{1} << 28;
  const auto axis_fits = [](const WalkedAxis& axis) {
    return axis.window < most && axis.window_stride < most && axis.dilation < most &&
           (axis.window - 1) * axis.dilation < most - 1 && axis.input_extent < most &&
           axis.start_padding < static_cast<std::int64_t>(most) &&
           axis.start_padding > -static_cast<std::int64_t>(most) &&
           axis.output_extent * axis.window_stride < most;
  };
  constexpr std::uint64_t elements_most = std::uint64_t{1} << 30;
  if (!std::all_of(kernel.axes.begin(), kernel.axes.end(), axis_fits)) return false;
  if (reach_of(kernel) > elements_most || kernel.output_elements() > elements_most) return false;
  // The elements of a window: more than memory holds where input strides are 0.
  std::uint64_t left = elements_most;
  for (const WalkedAxis& axis : kernel.axes) left /= most_inside(axis);
  return left > 0;
}

}  // namespace

Dispatches norm_dispatches(const WindowKernel& of) {
  const std::optional<NormWindows> windows = windows_of(of);
  if (!windows) return refused("its windows lie over more than three axes");
  const NormWindows& kernel = *windows;
  if (!fits_32_bits(kernel)) return refused("its numbers do not fit the 32 bits of a GPU kernel");
  Dispatch dispatch{.inputs = {0}, .loads_around = true};
  WindowNormConstants constants = constants_of(kernel);
  const std::size_t size = size_of(kernel.data_type);
  const std::string variant = is_float16(kernel.data_type) ? "float16" : "float32";
  const WindowNormSpecialization specialization{.P = known_exponent(kernel)};
  if (const auto walk = walk_of(kernel)) {
    dispatch.kernel = "norm_walk" + walk->variant;
    dispatch.specialization = walk->specialization;
    constants.column_blocks = word(walk->column_blocks);
    constants.row_blocks = word(walk->row_blocks);
    constants.strides.w = word(walk->block_rows);
    dispatch.stages.emplace_back(0, walk->threads, walk->work);
  } else if (takes_whole_windows(kernel)) {
    dispatch.kernel = "window_norm_" + variant;
    set_specialization(dispatch, specialization);
    dispatch.stages.emplace_back(0, divided_up(kernel.output_elements() * size, bytes_per_thread),
                                 whole_windows_work(kernel));
  } else {
    const WindowParts parts(kernel);
    dispatch.kernel = "window_norm_parts_" + variant;
    set_specialization(dispatch, specialization);
    constants.row_blocks = word(parts.rows);
    constants.column_blocks = word(parts.columns);
    add_part_stages(dispatch, kernel, parts);
  }
  set_constants(dispatch, constants);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
