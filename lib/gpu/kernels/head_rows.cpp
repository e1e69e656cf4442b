// Rows of heads: shaders/head_rows.hlsl.
#include <array>

#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/walk.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/head_rows.hlsli"

DMLOP_SPECIALIZATION(HeadRowsSpecialization, HEAD_ROWS_SPECIALIZATION)

bool is_64_bit(const std::optional<AttentionInput>& input) {
  return input && size_of(input->data_type) > 4;
}

/// The type of an input, which stands in the parameters; 0 where there is none.
uint add_input(HeadRowsParameters& parameters, std::size_t i, const HeadRowsKernel& kernel,
               const std::optional<AttentionInput>& input) {
  if (!input) return 0;
  parameters.offsets[i] = word(input->offset);
  const std::array strides{input->batch_stride, input->head_stride, input->row_stride,
                           input->element_stride};
  const std::array extents{kernel.batch, kernel.heads, kernel.rows, kernel.size};
  for (std::size_t a = 0; a < strides.size(); ++a)
    parameters.strides[strides.size() * i + a] = extents[a] == 1 ? 0 : word(strides[a]);
  return any_type(input->data_type);
}

}  // namespace

Dispatches dispatches_of(const HeadRowsKernel& kernel) {
  if (size_of(kernel.output_type) > 4 || is_64_bit(kernel.input) || is_64_bit(kernel.bias) ||
      is_64_bit(kernel.past))
    return refused("GPU kernels compute with at most 32 bits");
  HeadRowsParameters parameters{};
  parameters.elements = word(kernel.output_elements());
  parameters.heads = word(kernel.heads);
  parameters.rows = word(kernel.rows);
  parameters.size = word(kernel.size);
  parameters.past_rows = word(kernel.past_rows);
  if (kernel.past_lengths) {
    parameters.new_rows = word(kernel.past_lengths->new_rows);
    parameters.length_stride = word(kernel.past_lengths->stride);
  }
  Dispatch dispatch;
  dispatch.kernel = "head_rows";
  set_specialization(
      dispatch, HeadRowsSpecialization{.OUTPUT_TYPE = any_type(kernel.output_type),
                                       .INPUT_TYPE = add_input(parameters, 0, kernel, kernel.input),
                                       .BIAS_TYPE = add_input(parameters, 1, kernel, kernel.bias),
                                       .PAST_TYPE = add_input(parameters, 2, kernel, kernel.past),
                                       .HAS_LENGTHS = kernel.past_lengths.has_value()});
  // The rows stand for an input that is not there, so that the next one has its place.
  const std::size_t past = kernel.bias ? 2 : 1;
  dispatch.inputs = {0, kernel.bias ? std::size_t{1} : 0, kernel.past ? past : 0};
  if (kernel.past_lengths) dispatch.inputs.push_back(past + (kernel.past ? 1 : 0));
  set_parameters(dispatch, parameters);
  const std::size_t size = size_of(kernel.output_type);
  dispatch.stages.emplace_back(0, threads_for(kernel.output_elements() * size),
                               bytes_per_thread / size + 1);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
