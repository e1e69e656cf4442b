// Windows put back into an image: shaders/fold.hlsl.
#include <algorithm>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/fold.hlsli"

DMLOP_SPECIALIZATION(FoldSpecialization, FOLD_SPECIALIZATION)

constexpr std::size_t axes_most = 8;
constexpr std::uint64_t sum_bytes = SUM_WORDS * sizeof(uint);

/// So that 32 bits hold all of the kernel's numbers.
constexpr std::uint64_t numbers_most = std::uint64_t{1} << 31;

bool has_large_numbers(const FoldAxis& axis) {
  return axis.extent + axis.start_padding >= numbers_most ||
         (axis.window - 1) * axis.dilation >= numbers_most || axis.window_stride >= numbers_most;
}

std::uint64_t window_elements(const FoldKernel& kernel) {
  std::uint64_t count = 1;
  for (const FoldAxis& axis : kernel.axes) count *= axis.window;
  return count;
}

std::uint64_t image_elements(const FoldKernel& kernel) {
  std::uint64_t count = 1;
  for (const FoldAxis& axis : kernel.axes) count *= axis.extent;
  return count;
}

FoldParameters parameters_of(const FoldKernel& kernel) {
  FoldParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  parameters.image = word(image_elements(kernel));
  parameters.window_elements = word(window_elements(kernel));
  parameters.rank = word(kernel.axes.size());
  for (std::size_t a = 0; a < kernel.axes.size(); ++a) {
    const FoldAxis& axis = kernel.axes[a];
    parameters.extents[a] = word(axis.extent);
    parameters.paddings[a] = word(axis.start_padding);
    parameters.windows[a] = word(axis.window);
    parameters.window_strides[a] = word(axis.window_stride);
    parameters.dilations[a] = axis.window == 1 ? 1 : word(axis.dilation);
    parameters.places[a] = word(axis.places);
    parameters.element_strides[a] = axis.window == 1 ? 0 : word(axis.element_stride);
    parameters.place_strides[a] = axis.places == 1 ? 0 : word(axis.place_stride);
  }
  parameters.walk = walk_parameters(kernel.batches);
  return parameters;
}

}  // namespace

Dispatches dispatches_of(const FoldKernel& kernel) {
  if (kernel.data_type == DataType::Float64) return refused("GPU kernels do not compute FLOAT64");
  if (kernel.axes.size() > axes_most || kernel.batches.size() > axes_most)
    return refused("it has more than 8 dimensions");
  if (std::any_of(kernel.axes.begin(), kernel.axes.end(), has_large_numbers))
    return refused("its numbers do not fit the 32 bits of a GPU kernel");
  Dispatch dispatch;
  dispatch.kernel = "fold";
  set_specialization(dispatch, FoldSpecialization{.TYPE = any_type(kernel.data_type)});
  dispatch.inputs = {0};
  set_parameters(dispatch, parameters_of(kernel));

  const std::size_t size = size_of(kernel.data_type);
  const std::uint64_t per_thread = bytes_per_thread / size;
  const std::uint64_t per_window_element = 2 + kernel.axes.size();
  const std::uint64_t most =
      (thread_work_limit / per_thread - 2 - kernel.batches.size()) / per_window_element - 1;
  const std::uint64_t all = window_elements(kernel), step = std::min(all, most);
  if (step < all) dispatch.scratch_bytes = kernel.output_elements() * sum_bytes;
  for (std::uint64_t base = 0; base < all; base += step) {
    Stage stage(0, threads_for(kernel.output_elements() * size),
                per_thread * (2 + kernel.batches.size() + (step + 1) * per_window_element));
    stage.step = word(step);
    stage.base = word(base);
    dispatch.stages.push_back(stage);
  }
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
