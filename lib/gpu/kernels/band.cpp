// Matrices with one value on some diagonals: shaders/band.hlsl.
#include <algorithm>
#include <cstring>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/band.hlsli"

DMLOP_SPECIALIZATION(BandSpecialization, BAND_SPECIALIZATION)

// The difference of a row and a column, with some elements behind it, fits an int.
constexpr std::uint64_t extent_most = std::uint64_t{1} << 30;

const StridedAxis& rows_of(const BandKernel& kernel) {
  return kernel.axes[kernel.axes.size() - 2];
}
const StridedAxis& columns_of(const BandKernel& kernel) {
  return kernel.axes.back();
}

// Where there is none, no axis has a stride.
bool has_input(const BandKernel& kernel) {
  return std::any_of(kernel.axes.begin(), kernel.axes.end(),
                     [](const StridedAxis& axis) { return axis.stride != 0; });
}

}  // namespace

Dispatches dispatches_of(const BandKernel& kernel) {
  if (kernel.axes.size() > 9) return refused("it has more than 8 dimensions");
  if (rows_of(kernel).extent > extent_most || columns_of(kernel).extent > extent_most)
    return refused("its matrices have more rows or columns than a GPU kernel can number");
  std::vector<WalkAxis> rows;
  for (const StridedAxis& axis : kernel.axes) rows.push_back({axis.extent, {axis.stride}});
  rows.pop_back();
  rows = merged(rows);
  const auto columns = static_cast<std::int64_t>(columns_of(kernel).extent);
  const auto diagonal = [&](std::int64_t d) {
    return static_cast<int>(
        std::clamp(d, -static_cast<std::int64_t>(rows_of(kernel).extent), columns));
  };
  BandParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  parameters.rows = word(rows_of(kernel).extent);
  parameters.columns = word(columns_of(kernel).extent);
  parameters.column_stride = word(columns_of(kernel).stride);
  parameters.begin = diagonal(kernel.begin);
  parameters.end = diagonal(kernel.end);
  std::memcpy(parameters.value, kernel.value.data(), kernel.value.size());
  parameters.walk = walk_parameters(rows);
  Dispatch dispatch;
  dispatch.kernel = "band";
  set_specialization(dispatch, BandSpecialization{.SIZE = kernel.element_size,
                                                  .HAS_INPUT = has_input(kernel),
                                                  .IS_INVERTED = kernel.is_inverted});
  if (has_input(kernel)) dispatch.inputs = {0};
  set_parameters(dispatch, parameters);
  dispatch.stages.emplace_back(0, threads_for(kernel.output_elements() * kernel.element_size),
                               walk_work(moved_size(kernel.element_size), rows.size()));
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
