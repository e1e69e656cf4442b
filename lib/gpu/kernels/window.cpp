// Sums and maxima of what outputs reach: shaders/window.hlsl. Norms have kernels of their own.
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"
#include "gpu/kernels/window_norms.hpp"
#include "gpu/kernels/window_search.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/window.hlsli"

WindowSearch search_of(const WindowKernel& kernel) {
  uint quantization = 0;
  if (kernel.requantization) {
    quantization = IS_QUANTIZED;
    if (kernel.requantization->input_zero_point_stride) quantization |= HAS_INPUT_ZERO;
    if (kernel.requantization->output_zero_point_stride) quantization |= HAS_OUTPUT_ZERO;
  }
  return {.axes = kernel.axes,
          .data_type = kernel.data_type,
          .is_maximum = kernel.function == WindowFunction::maximum,
          .quantization = quantization};
}

// The kernel has a place for each input, also for one that is not there.
void add_quantization(Dispatch& dispatch, const WindowKernel& kernel) {
  const Requantization& of = *kernel.requantization;
  std::size_t next = 1;
  const auto add = [&](bool is_there, std::uint64_t stride, std::size_t at) {
    dispatch.inputs.push_back(is_there ? next++ : 0);
    dispatch.parameters[at] = word(stride);
  };
  add(true, of.input_scale_stride, at_input_scale_stride);
  add(of.input_zero_point_stride.has_value(), of.input_zero_point_stride.value_or(0),
      at_input_zero_stride);
  add(true, of.output_scale_stride, at_output_scale_stride);
  add(of.output_zero_point_stride.has_value(), of.output_zero_point_stride.value_or(0),
      at_output_zero_stride);
  std::uint64_t stride = 1;
  for (std::size_t a = 2; a < kernel.axes.size(); ++a) stride *= kernel.axes[a].output_extent;
  dispatch.parameters[at_channel_stride] = word(stride);
  dispatch.parameters[at_channels] = word(kernel.axes[1].output_extent);
}

}  // namespace

Dispatches dispatches_of(const WindowKernel& kernel) {
  if (kernel.function == WindowFunction::norm) return norm_dispatches(kernel);
  Dispatches found = dispatches_of(search_of(kernel));
  if (!kernel.requantization) return found;
  for (Dispatch& dispatch : found.dispatches) add_quantization(dispatch, kernel);
  return found;
}

}  // namespace dmlop::gpu::kernels
