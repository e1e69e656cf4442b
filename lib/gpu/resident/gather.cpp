// Elements picked by index: shaders/gather.hlsl.
#include "gpu/resident/kinds.hpp"
#include "gpu/resident/walk.hpp"

namespace dmlop::gpu::resident {
namespace {

#include "../../../shaders/parameters/gather.hlsli"

constexpr std::size_t coordinates_most = 8;

}  // namespace

std::string refusal_of(const GatherKernel& kernel) {
  return kernel.axes.size() > 8 || kernel.coordinates.size() > coordinates_most
             ? "it has more than 8 dimensions"
             : "";
}

std::vector<ResidentDispatch> dispatches_of(const GatherKernel& kernel) {
  const std::uint64_t words = moved_per_element(kernel.element_size);
  const std::uint64_t size = moved_size(kernel.element_size);
  std::vector<WalkAxis> axes;
  for (const GatherAxis& axis : kernel.axes)
    axes.push_back({axis.extent, {axis.input_stride * words, axis.indices_stride}});
  axes.push_back({words, {1}});
  axes = merged(axes);
  GatherParameters parameters{};
  parameters.elements = word(kernel.output_elements() * words);
  parameters.coordinates = word(kernel.coordinates.size());
  for (std::size_t c = 0; c < kernel.coordinates.size(); ++c) {
    const IndexedAxis& axis = kernel.coordinates[c];
    parameters.extents[c] = word(axis.extent);
    parameters.strides[c] = axis.extent == 1 ? 0 : word(axis.stride * words);
    parameters.offsets[c] = word(axis.indices_offset);
  }
  parameters.walk = walk_parameters(axes);
  const bool has_runs = axes.back().strides == WalkAxis{1, {1, 0}}.strides;
  ResidentDispatch dispatch;
  dispatch.kernel = "gather";
  dispatch.specialization = {word(size), static_cast<uint>(kernel.index.type),
                             static_cast<uint>(kernel.index.large), has_runs ? 1U : 0U};
  dispatch.inputs = {0, 1};
  set_parameters(dispatch, parameters);
  dispatch.stages.emplace_back(
      0, threads_for(kernel.output_elements() * kernel.element_size),
      walk_work(size, axes.size() + kernel.coordinates.size()) + kernel.coordinates.size());
  return {dispatch};
}

}  // namespace dmlop::gpu::resident
