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

}  // namespace

Dispatches dispatches_of(const BandKernel& kernel) {
  if (const std::string refusal = walk_refusal(kernel.lines); !refusal.empty())
    return refused(refusal);
  if (kernel.rows > extent_most || kernel.columns.extent > extent_most)
    return refused("its matrices have more rows or columns than a GPU kernel can number");
  const auto rows = static_cast<std::int64_t>(kernel.rows);
  const auto columns = static_cast<std::int64_t>(kernel.columns.extent);
  const auto diagonal = [&](std::int64_t d) {
    return static_cast<int>(std::clamp(d, -rows, columns));
  };
  BandParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  parameters.rows = word(kernel.rows);
  parameters.columns = word(kernel.columns.extent);
  parameters.column_stride = word(kernel.columns.stride());
  parameters.begin = diagonal(kernel.begin);
  parameters.end = diagonal(kernel.end);
  std::memcpy(parameters.value, kernel.value.data(), kernel.value.size());
  parameters.walk = walk_parameters(kernel.lines);
  Dispatch dispatch;
  dispatch.kernel = "band";
  set_specialization(dispatch, BandSpecialization{.SIZE = kernel.element_size,
                                                  .HAS_INPUT = kernel.has_input,
                                                  .IS_INVERTED = kernel.is_inverted});
  if (kernel.has_input) dispatch.inputs = {0};
  set_parameters(dispatch, parameters);
  dispatch.stages.emplace_back(0, threads_for(kernel.output_elements() * kernel.element_size),
                               walk_work(moved_size(kernel.element_size), kernel.lines.size()));
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
