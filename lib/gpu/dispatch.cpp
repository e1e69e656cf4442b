#include "gpu/dispatch.hpp"

#include <algorithm>
#include <cstring>

namespace dmlop::gpu {
namespace {

using Word = std::uint32_t;

constexpr std::uint64_t threads_per_group = 256;
constexpr std::uint64_t bytes_per_thread = 16;
constexpr std::uint64_t groups_per_row = 65535;

// Axes that fit the constants; more go to a table (shaders/index_map.hlsl).
constexpr std::size_t constant_axes = 4;
constexpr std::size_t table_axes = 8;

Word word(std::uint64_t value) {
  return static_cast<Word>(value);
}
Word word(std::int64_t value) {
  return static_cast<Word>(value);
}

// One thread for every 16 bytes of output.
void set_extent(Dispatch& dispatch, std::uint64_t elements, std::uint64_t element_size) {
  const std::uint64_t bytes = elements * element_size;
  const std::uint64_t threads = (bytes + bytes_per_thread - 1) / bytes_per_thread;
  const std::uint64_t groups =
      std::max<std::uint64_t>(1, (threads + threads_per_group - 1) / threads_per_group);
  const std::uint64_t columns = std::min(groups, groups_per_row);
  dispatch.groups = {word(columns), word((groups + columns - 1) / columns)};
  dispatch.constants[0] = word(elements);
  dispatch.constants[1] = word(columns);
  dispatch.output_bytes = bytes;
}

// The kernel's one boundary for all axes: an axis without one is an unpadded axis of any.
Boundary boundary_of(const IndexMapPlan& plan) {
  for (const IndexMapAxis& axis : plan.axes) {
    if (axis.boundary != Boundary::none) return axis.boundary;
  }
  return Boundary::none;
}

std::array<Word, 4> axis_row(const IndexMapAxis& axis) {
  const bool bounded = axis.boundary != Boundary::none;
  return {word(axis.extent), word(axis.stride), bounded ? word(axis.start_padding) : 0,
          word(bounded ? axis.input_extent : axis.extent)};
}

Dispatch index_map_dispatch(const IndexMapPlan& plan) {
  Dispatch dispatch;
  set_extent(dispatch, output_elements(plan), plan.element_size);
  const std::size_t rank = plan.axes.size();
  const bool in_table = rank > constant_axes;
  const int reversal = !plan.reversal ? 0 : plan.reversal->axis + 1 == rank ? 1 : 2;
  const auto boundary = static_cast<int>(boundary_of(plan));
  dispatch.kernel = "index_map_" + std::to_string(plan.element_size) + "_" +
                    std::to_string(boundary) + "_" + std::to_string(in_table ? table_axes : rank) +
                    "_" + std::to_string(reversal);
  dispatch.constants[2] =
      word(plan.offset + static_cast<std::int64_t>(input_slack_bytes / plan.element_size));
  if (plan.reversal) {
    dispatch.constants[3] = plan.reversal->lengths_type == DataType::UInt64 ? 2 : 1;
    dispatch.constants[5] = word(std::uint64_t{plan.reversal->axis});
  }
  dispatch.constants[4] = word(std::uint64_t{rank});
  std::memcpy(&dispatch.constants[6], plan.fill.data(), 8);
  if (in_table) dispatch.table.resize(table_axes * 2 * 4);
  for (std::size_t i = 0; i < rank; ++i) {
    const auto row = axis_row(plan.axes[i]);
    std::copy(row.begin(), row.end(),
              in_table ? &dispatch.table[i * 4] : &dispatch.constants[8 + i * 4]);
    const Word lengths_stride = word(plan.axes[i].lengths_stride);
    (in_table ? dispatch.table[(table_axes + i) * 4] : dispatch.constants[24 + i]) = lengths_stride;
  }
  return dispatch;
}

Dispatch lp_pooling_dispatch(const LpPoolingPlan& plan) {
  Dispatch dispatch;
  const std::size_t size = size_of(plan.data_type);
  const std::uint64_t window = plan.axes[2].window;
  set_extent(dispatch, output_elements(plan), size);
  dispatch.kernel = "lp_pooling_" + std::to_string(size) + "_" +
                    std::to_string(plan.p <= 3 ? plan.p : 0) + "_" +
                    std::to_string(window == 2 || window == 3 ? window : 0);
  dispatch.constants[2] = word(input_slack_bytes / size);
  dispatch.constants[3] = word(plan.p);
  dispatch.constants[4] = word(plan.batch_extents[1]);
  dispatch.constants[5] = word(plan.batch_strides[0]);
  dispatch.constants[6] = word(plan.batch_strides[1]);
  for (std::size_t i = 0; i < 3; ++i) {
    const PoolingAxis& axis = plan.axes[i];
    dispatch.constants[8 + i * 4] = word(axis.input_extent);
    dispatch.constants[9 + i * 4] = word(axis.output_extent);
    dispatch.constants[10 + i * 4] = word(axis.input_stride);
    dispatch.constants[11 + i * 4] = word(axis.window);
    dispatch.constants[20 + i] = word(axis.window_stride);
    dispatch.constants[24 + i] = word(axis.start_padding);
  }
  return dispatch;
}

}  // namespace

Dispatch make_dispatch(const Plan& plan) {
  if (const auto* map = std::get_if<IndexMapPlan>(&plan)) return index_map_dispatch(*map);
  return lp_pooling_dispatch(std::get<LpPoolingPlan>(plan));
}

Dispatch copy_dispatch(std::uint64_t bytes) {
  Dispatch dispatch;
  dispatch.kernel = "copy";
  set_extent(dispatch, bytes / 4, 4);
  return dispatch;
}

}  // namespace dmlop::gpu
