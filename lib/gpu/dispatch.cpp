#include "gpu/dispatch.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "gpu/index_map_dispatch.hpp"
#include "gpu/resident/kinds.hpp"
#include "gpu/window_walk.hpp"
#include "gpu/words.hpp"

namespace dmlop::gpu {
namespace {

constexpr std::uint64_t bytes_per_thread = 16;

void set_output(Dispatch& dispatch, std::uint64_t elements, std::uint64_t element_size) {
  dispatch.constants[0] = word(elements);
  dispatch.output_bytes = elements * element_size;
}

// One thread for every 16 bytes of output; `work` as in Stage.
void add_output_stage(Dispatch& dispatch, std::uint64_t work) {
  dispatch.stages.emplace_back(0, divided_up(dispatch.output_bytes, bytes_per_thread), work);
}

Dispatch dispatch_of(const IndexMapKernel& kernel, std::uint64_t) {
  return index_map_dispatch(kernel);
}

std::uint64_t covered(const PoolingAxis& axis) {
  return std::min(axis.window, axis.input_extent);
}

// Iterations of the loop of a power (shaders/lp_norm.hlsli).
std::uint64_t power_work(const LpPoolingKernel& kernel) {
  if (kernel.p <= 3) return 0;
  return 1 + divided_up(static_cast<std::uint64_t>(std::bit_width(kernel.p)), 4);
}

// Iterations of loops over the rows of a window, each of which does `row_work`.
std::uint64_t rows_work(const LpPoolingKernel& kernel, std::uint64_t row_work) {
  const std::uint64_t planes = covered(kernel.axes[0]) + 1, rows = covered(kernel.axes[1]) + 1;
  return planes * (1 + rows * (1 + row_work));
}

// Two scaled sweeps over a window.
std::uint64_t scaled_work(const LpPoolingKernel& kernel) {
  const std::uint64_t power = power_work(kernel), width = kernel.axes[2].window;
  return rows_work(kernel, width + 1) + rows_work(kernel, (width + 1) * (1 + power)) + 2 * power;
}

// What a thread of shaders/lp_pooling.hlsl does at most, which takes whole windows: it sums those
// of all rows that its outputs stand in, and then each of them once more in two scaled sweeps.
std::uint64_t whole_windows_work(const LpPoolingKernel& kernel) {
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
bool takes_whole_windows(const LpPoolingKernel& kernel) {
  // First, so that 64 bits hold their work.
  if (std::max({covered(kernel.axes[0]), covered(kernel.axes[1]), kernel.axes[2].window}) >
      thread_work_limit)
    return false;
  return whole_windows_work(kernel) <= thread_work_limit;
}

WalkedAxis walked(const PoolingAxis& axis) {
  return {.input_extent = axis.input_extent,
          .output_extent = axis.output_extent,
          .window = axis.window,
          .stride = axis.window_stride,
          .start_padding = axis.start_padding};
}

// How threads walk down the windows, where these lie over two axes of packed rows.
std::optional<WindowWalk> walk_of(const LpPoolingKernel& kernel) {
  const auto& [depth, height, width] = kernel.axes;
  const bool is_flat = depth.window == 1 && depth.start_padding == 0 &&
                       (depth.output_extent - 1) * depth.window_stride < depth.input_extent;
  if (!is_flat || width.input_stride != 1) return std::nullopt;
  WalkedWindows windows{
      .element_size = size_of(kernel.data_type),
      .operation = word(kernel.p <= 3 ? kernel.p : 0),
      .height = walked(height),
      .width = walked(width),
      .planes = kernel.batch_extents[0] * kernel.batch_extents[1] * depth.output_extent,
      .slack_bytes = input_slack_bytes,
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

// How the parts of a window cover it (shaders/lp_pooling_parts.hlsl).
struct WindowParts {
  // So few that a sum of them is exact but for the last place, and two rows of so many columns
  // that a thread can take them.
  static constexpr std::uint64_t elements_most = 4096;
  static constexpr std::uint64_t columns_most = 2048;

  std::uint64_t rows;     // of a part
  std::uint64_t columns;  // of a part
  std::uint64_t count;
  std::uint64_t work;  // of a part

  explicit WindowParts(const LpPoolingKernel& kernel) {
    const std::uint64_t all_rows = covered(kernel.axes[0]) * covered(kernel.axes[1]);
    const std::uint64_t width = covered(kernel.axes[2]);
    const std::uint64_t per_row = divided_up(width, columns_most);
    columns = divided_up(width, per_row);
    const std::uint64_t row_work = 1 + (columns + 1) * (2 + power_work(kernel));
    rows = std::min({all_rows, elements_most / columns, thread_work_limit / row_work - 1});
    count = divided_up(all_rows, rows) * per_row;
    work = (rows + 1) * row_work;
  }
};

// Each step of the kernel for so many outputs as the state has room for; then the next ones.
void add_part_stages(Dispatch& dispatch, const LpPoolingKernel& kernel, const WindowParts& parts,
                     std::uint64_t state_bytes_limit) {
  constexpr std::uint64_t most = std::uint64_t{16} << 20;  // keeps every device busy
  constexpr std::uint64_t multiple = 8;                    // outputs of a thread at the end
  const std::uint64_t elements = output_elements(kernel);
  const std::uint64_t per_thread = bytes_per_thread / size_of(kernel.data_type);
  const std::uint64_t room =
      std::min(most, state_bytes_limit) / bytes_per_thread / multiple * multiple;
  const std::uint64_t power = power_work(kernel);
  dispatch.state_bytes = std::min(room, elements) * bytes_per_thread;
  for (std::uint64_t begin = 0; begin < elements; begin += room) {
    const std::uint64_t end = std::min(elements, begin + room);
    for (std::uint64_t step = 0; step < 2 * parts.count; ++step) {
      Stage stage(begin, end, parts.work);
      stage.step = word(step);
      stage.base = word(begin);
      stage.writes_state = true;
      dispatch.stages.push_back(stage);
    }
    Stage norms(begin / per_thread, divided_up(end, per_thread), 5 * (1 + 4 * power));
    norms.step = word(2 * parts.count);
    norms.base = word(begin);
    dispatch.stages.push_back(norms);
  }
}

Dispatch dispatch_of(const LpPoolingKernel& kernel, std::uint64_t state_bytes_limit) {
  Dispatch dispatch;
  const std::size_t size = size_of(kernel.data_type);
  set_output(dispatch, output_elements(kernel), size);
  const std::string variant =
      std::to_string(size) + "_" + std::to_string(kernel.p <= 3 ? kernel.p : 0);
  dispatch.constants[2] = word(input_slack_bytes / size);
  dispatch.constants[3] = word(kernel.p);
  dispatch.constants[4] = word(kernel.batch_extents[1]);
  dispatch.constants[5] = word(kernel.batch_strides[0]);
  dispatch.constants[6] = word(kernel.batch_strides[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    const PoolingAxis& axis = kernel.axes[i];
    dispatch.constants[8 + i * 4] = word(axis.input_extent);
    dispatch.constants[9 + i * 4] = word(axis.output_extent);
    dispatch.constants[10 + i * 4] = word(axis.input_stride);
    dispatch.constants[11 + i * 4] = word(axis.window);
    dispatch.constants[20 + i] = word(axis.window_stride);
    dispatch.constants[24 + i] = word(axis.start_padding);
  }
  if (const auto walk = walk_of(kernel)) {
    dispatch.kernel = "lp_pooling_walk" + walk->variant;
    dispatch.specialization = walk->specialization;
    dispatch.constants[7] = word(walk->column_blocks);
    dispatch.constants[23] = word(walk->row_blocks);
    dispatch.constants[27] = word(walk->block_rows);
    dispatch.stages.emplace_back(0, walk->threads, walk->work);
    return dispatch;
  }
  if (takes_whole_windows(kernel)) {
    dispatch.kernel = "lp_pooling_" + variant;
    add_output_stage(dispatch, whole_windows_work(kernel));
    return dispatch;
  }
  const WindowParts parts(kernel);
  dispatch.kernel = "lp_pooling_parts_" + variant;
  dispatch.constants[7] = word(parts.count);
  dispatch.constants[23] = word(parts.rows);
  dispatch.constants[27] = word(parts.columns);
  add_part_stages(dispatch, kernel, parts, state_bytes_limit);
  return dispatch;
}

template <typename Kind>
requires(!Tiled<Kind>) Dispatch dispatch_of(const Kind&, std::uint64_t) {
  throw std::logic_error("a kernel that is not tiled has no dispatch of a tile");
}

template <typename Kind>
requires(!Tiled<Kind>) std::string refusal_of(const Kind& kernel) {
  return resident::refusal_of(kernel);
}
std::string refusal_of(const IndexMapKernel&) {
  return "";
}
// Whether 32 bits hold window sizes and paddings, with room to add them.
bool fits_32_bits(const LpPoolingKernel& pooling) {
  constexpr std::uint64_t most = std::uint64_t{1} << 28;
  const auto axis_fits = [](const PoolingAxis& axis) {
    return axis.window < most && axis.window_stride < most && axis.input_extent < most &&
           axis.start_padding < static_cast<std::int64_t>(most) &&
           axis.output_extent * axis.window_stride < most;
  };
  if (!std::all_of(pooling.axes.begin(), pooling.axes.end(), axis_fits)) return false;
  // The elements of a window: more than memory holds where input strides are 0.
  std::uint64_t left = std::uint64_t{1} << 30;
  for (const PoolingAxis& axis : pooling.axes) left /= covered(axis);
  return left > 0;
}

std::string refusal_of(const LpPoolingKernel& pooling) {
  return fits_32_bits(pooling) ? "" : "its numbers do not fit the 32 bits of a GPU kernel";
}

}  // namespace

std::string kernel_refusal(const Kernel& kernel) {
  return std::visit([](const auto& kind) { return refusal_of(kind); }, kernel);
}

Dispatch make_dispatch(const Kernel& kernel, std::uint64_t state_bytes_limit) {
  return std::visit([&](const auto& kind) { return dispatch_of(kind, state_bytes_limit); }, kernel);
}

std::vector<ResidentDispatch> make_resident_dispatches(const Kernel& kernel) {
  return std::visit(
      []<typename Kind>(const Kind& kind) -> std::vector<ResidentDispatch> {
        if constexpr (Tiled<Kind>) {
          throw std::logic_error("a tiled kernel has no resident dispatches");
        } else {
          return resident::dispatches_of(kind);
        }
      },
      kernel);
}

Dispatch copy_dispatch(std::uint64_t bytes) {
  Dispatch dispatch;
  dispatch.kernel = "copy";
  set_output(dispatch, bytes / 4, 4);
  add_output_stage(dispatch, 1);
  return dispatch;
}

}  // namespace dmlop::gpu
