// Tensors one after the other: shaders/join.hlsl, which takes up to 8 of them at a time.
#include <algorithm>
#include <numeric>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/join.hlsli"

DMLOP_SPECIALIZATION(JoinSpecialization, JOIN_SPECIALIZATION)

constexpr std::size_t axes_most = 9;

bool is_plain(const IndexMapKernel& part) {
  return !part.reversal && part.offset >= 0 &&
         std::all_of(part.axes.begin(), part.axes.end(), [](const IndexMapAxis& axis) {
           return axis.boundary == Boundary::none && axis.stride >= 0;
         });
}

StridedAxes axes_of(const IndexMapKernel& part) {
  const std::uint64_t words = moved_per_element(part.element_size);
  StridedAxes axes;
  for (const IndexMapAxis& axis : part.axes)
    axes.push_back({axis.extent, {static_cast<std::uint64_t>(axis.stride) * words}});
  axes.push_back({words, {1}});
  return merged(axes);
}

bool is_packed(const StridedAxes& axes) {
  return axes.size() == 1 && (axes.front().stride() == 1 || axes.front().extent == 1);
}

/// Elements of a part in a row.
std::uint64_t run_of(const JoinKernel& kernel, const IndexMapKernel& part) {
  return part.output_elements() / kernel.outer * moved_per_element(part.element_size);
}

/// Parts [begin, end), the first of which begins at column `start`.
Dispatch dispatch_of(const JoinKernel& kernel, std::size_t begin, std::size_t end,
                     std::uint64_t start) {
  const std::size_t element_size = kernel.parts.front().element_size;
  JoinParameters parameters{};
  parameters.elements = word(kernel.output_elements() * moved_per_element(element_size));
  parameters.row = word(parameters.elements / kernel.outer);
  bool all_packed = true;
  Dispatch dispatch;
  for (std::size_t i = begin; i < end; ++i) {
    const IndexMapKernel& part = kernel.parts[i];
    const std::size_t p = i - begin;
    parameters.starts[p] = word(start);
    start += run_of(kernel, part);
    parameters.offsets[p] =
        word(static_cast<std::uint64_t>(part.offset) * moved_per_element(element_size));
    const StridedAxes axes = axes_of(part);
    parameters.ranks[p] = word(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
      parameters.extents[p * axes_most + a] = word(axes[a].extent);
      parameters.strides[p * axes_most + a] = word(axes[a].stride());
    }
    all_packed = all_packed && is_packed(axes);
    dispatch.inputs.push_back(i);
  }
  parameters.starts[end - begin] = word(start);
  const std::uint64_t size = moved_size(element_size);
  dispatch.kernel = "join";
  set_specialization(dispatch, JoinSpecialization{.ELEMENT_SIZE = size,
                                                  .PARTS = end - begin,
                                                  .IS_PACKED = all_packed,
                                                  .IS_ALL = end - begin == kernel.parts.size()});
  set_parameters(dispatch, parameters);
  dispatch.stages.emplace_back(0, threads_for(kernel.output_elements() * element_size),
                               walk_work(size, axes_most));
  return dispatch;
}

}  // namespace

Dispatches dispatches_of(const JoinKernel& kernel) {
  if (!std::all_of(kernel.parts.begin(), kernel.parts.end(), is_plain))
    return refused("its parts are not plain copies");
  const auto has_many_axes = [](const IndexMapKernel& part) {
    return part.axes.size() >= axes_most;
  };
  if (std::any_of(kernel.parts.begin(), kernel.parts.end(), has_many_axes))
    return refused("it has more than 8 dimensions");
  std::vector<Dispatch> dispatches;
  std::uint64_t start = 0;
  for (std::size_t begin = 0; begin < kernel.parts.size(); begin += inputs_most) {
    const std::size_t end = std::min(kernel.parts.size(), begin + inputs_most);
    dispatches.push_back(dispatch_of(kernel, begin, end, start));
    for (std::size_t i = begin; i < end; ++i) start += run_of(kernel, kernel.parts[i]);
  }
  return dispatches;
}

}  // namespace dmlop::gpu::kernels
