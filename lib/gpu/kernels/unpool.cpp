// Elements that go to places among zeros: shaders/unpool.hlsl.
#include "base/threshold.hpp"
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/unpool.hlsli"

DMLOP_SPECIALIZATION(UnpoolSpecialization, UNPOOL_SPECIALIZATION)

enum UnpoolStep : uint { clears = CLEARS, lists = LISTS, writes = WRITES, adds_up = ADDS_UP };
constexpr std::uint64_t cleared_per_thread = CLEARED_PER_THREAD;

constexpr std::size_t axes_most = 8;
constexpr Threshold work_most{50'000, 90};
constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 30;
constexpr std::uint64_t walks_most = 256;  // stages

/// Values of one place that a stage adds up, each of which is looked for along all axes.
std::uint64_t walk_of(std::size_t rank) {
  return work_most / (rank + 2);
}

std::uint64_t walk_count(const UnpoolKernel& kernel, std::size_t rank) {
  return kernel.adds ? divided_up(elements_of(kernel.axes) / kernel.images, walk_of(rank)) : 0;
}

// A word for each place and, where values are added, for each value, and two for each sum.
std::uint64_t scratch_bytes(const UnpoolKernel& kernel) {
  const std::uint64_t elements = kernel.output_elements();
  return 4 * (kernel.adds ? 3 * elements + elements_of(kernel.axes) : elements);
}

UnpoolParameters parameters_of(const UnpoolKernel& kernel) {
  const StridedAxes& axes = kernel.axes;
  const std::uint64_t values = elements_of(kernel.axes);
  UnpoolParameters parameters{.elements = word(kernel.output_elements()),
                              .image_extent = word(kernel.image_extent),
                              .values = word(values),
                              .per_image = word(values / kernel.images),
                              .rank = word(axes.size()),
                              .walk = word(walk_of(axes.size()))};
  for (std::size_t a = 0; a < axes.size(); ++a) {
    parameters.extents[a] = word(axes[a].extent);
    parameters.value_strides[a] = word(axes[a].strides[0]);
    parameters.index_strides[a] = word(axes[a].strides[1]);
  }
  return parameters;
}

}  // namespace

Dispatches dispatches_of(const UnpoolKernel& kernel) {
  const StridedAxes& axes = kernel.axes;
  if (axes.size() > axes_most) return refused("it has more than 8 dimensions");
  const std::uint64_t values = elements_of(kernel.axes), elements = kernel.output_elements();
  if (values >= 0xFFFFFFFF) return refused("its numbers do not fit the 32 bits of a GPU kernel");
  const std::uint64_t walks = walk_count(kernel, axes.size()), scratch = scratch_bytes(kernel);
  if (walks > walks_most || scratch > scratch_bytes_most)
    return refused("its images are too large for a GPU kernel");
  Dispatch dispatch;
  dispatch.kernel = "unpool";
  set_specialization(dispatch, UnpoolSpecialization{.TYPE = any_type(kernel.data_type),
                                                    .INDEX_TYPE = any_type(kernel.index_type),
                                                    .ADDS = kernel.adds});
  set_parameters(dispatch, parameters_of(kernel));
  dispatch.inputs = {0, 1};
  dispatch.scratch_bytes = scratch;
  const auto add_stage = [&](UnpoolStep step, std::uint64_t threads, std::uint64_t work) {
    dispatch.stages.emplace_back(0, word(threads), work);
    dispatch.stages.back().step = step;
  };
  const std::uint64_t search = axes.size() + 2;
  add_stage(clears, divided_up(elements, cleared_per_thread), cleared_per_thread + 1);
  add_stage(lists, values, search);
  for (std::uint64_t i = 0; i < walks; ++i)
    add_stage(adds_up, elements, search * (walk_of(axes.size()) + 1));
  const std::uint64_t per_thread = bytes_per_thread / size_of(kernel.data_type);
  add_stage(writes, divided_up(elements, per_thread), per_thread * (search + 1) + 1);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
