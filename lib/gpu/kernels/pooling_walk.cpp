#include "gpu/kernels/pooling_walk.hpp"

#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/planes.hpp"
#include "gpu/kernels/window_walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/pooling_walk.hlsli"

std::optional<WindowWalk> walk_of(const WindowSearch& search, const WindowAxes& axes) {
  if (!has_planes(search, axes)) return std::nullopt;
  const WindowAxis &height = axes.windowed[0].axis, &width = axes.windowed[1].axis;
  if (!is_plain(height) || !is_plain(width)) return std::nullopt;
  WalkedWindows windows{.data_type = search.data_type,
                        .operation = search.is_maximum ? 0U : 1U,
                        .height = walked(height),
                        .width = walked(width),
                        .planes = planes_of(search, axes),
                        .strides = {height.input_stride},
                        .plane_work = axes.copied.size()};
  for (const StridedAxis& copied : axes.copied) windows.strides.push_back(copied.strides[1]);
  return window_walk(windows);
}

PoolingWalkConstants constants_of(const WindowSearch& search, const WindowAxes& axes,
                                  const WindowWalk& walk) {
  const WindowAxis &height = axes.windowed[0].axis, &width = axes.windowed[1].axis;
  const auto &rows = std::get<Windows>(height.reach), &columns = std::get<Windows>(width.reach);
  PoolingWalkConstants constants{};
  constants.column_blocks = word(walk.column_blocks);
  constants.row_blocks = word(walk.row_blocks);
  constants.block_rows = word(walk.block_rows);
  constants.last_vector = word(last_vector(search));
  constants.input_height = word(height.input_extent);
  constants.input_width = word(width.input_extent);
  constants.row_stride = word(height.input_stride);
  constants.output_height = word(height.output_extent);
  constants.output_width = word(width.output_extent);
  constants.start_y = word(rows.start_padding);
  constants.start_x = word(columns.start_padding);
  constants.divisor_y = static_cast<uint>(rows.divisor);
  constants.divisor_x = static_cast<uint>(columns.divisor);
  set_planes(constants, axes);
  return constants;
}

}  // namespace

std::optional<Dispatch> pooling_walk(const WindowSearch& search, const WindowAxes& axes) {
  const auto walk = walk_of(search, axes);
  if (!walk) return std::nullopt;
  Dispatch dispatch;
  dispatch.kernel = "pooling_walk" + walk->variant;
  dispatch.specialization = walk->specialization;
  set_constants(dispatch, constants_of(search, axes, *walk));
  dispatch.inputs = {0};
  dispatch.stages.emplace_back(0, walk->threads, walk->work);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
