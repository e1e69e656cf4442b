// Rows of heads: shaders/head_rows.hlsl.
#include <algorithm>
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

/// Whether the rows of an input that has the output's type begin at vectors of 16 bytes.
bool begin_at_vectors(const HeadRowsKernel& kernel, const AttentionInput& input) {
  const std::uint64_t together = bytes_per_thread / size_of(kernel.output_type);
  const std::array places{input.offset, input.batch_stride, input.head_stride, input.row_stride};
  return input.data_type == kernel.output_type && input.element_stride == 1 &&
         std::all_of(places.begin(), places.end(),
                     [&](std::uint64_t elements) { return elements % together == 0; });
}

bool is_moved(const HeadRowsKernel& kernel) {
  return !kernel.bias && kernel.size * size_of(kernel.output_type) % bytes_per_thread == 0 &&
         begin_at_vectors(kernel, kernel.input) &&
         (!kernel.past || begin_at_vectors(kernel, *kernel.past));
}

/// The type of an input, and where its elements are; 0 where there is none.
uint row_type(const std::optional<AttentionInput>& input) {
  return input ? any_type(input->data_type) : 0;
}
uint row_offset(const std::optional<AttentionInput>& input) {
  return input ? word(input->offset) : 0;
}
uint4 row_strides(const HeadRowsKernel& kernel, const std::optional<AttentionInput>& input) {
  if (!input) return {};
  const auto stride = [](std::uint64_t extent, std::uint64_t elements) {
    return extent == 1 ? 0 : word(elements);
  };
  return {stride(kernel.size, input->element_stride), stride(kernel.rows, input->row_stride),
          stride(kernel.heads, input->head_stride), stride(kernel.batch, input->batch_stride)};
}

}  // namespace

Dispatches dispatches_of(const HeadRowsKernel& kernel) {
  if (size_of(kernel.output_type) > 4 || is_64_bit(kernel.input) || is_64_bit(kernel.bias) ||
      is_64_bit(kernel.past))
    return refused("GPU kernels compute with at most 32 bits");
  const HeadRowsConstants constants{
      .elements = word(kernel.output_elements()),
      .heads = word(kernel.heads),
      .rows = word(kernel.rows),
      .size = word(kernel.size),
      .past_rows = word(kernel.past_rows),
      .new_rows = kernel.past_lengths ? word(kernel.past_lengths->new_rows) : 0,
      .length_stride = kernel.past_lengths ? word(kernel.past_lengths->stride) : 0,
      .offset = word(kernel.input.offset),
      .bias_offset = row_offset(kernel.bias),
      .past_offset = row_offset(kernel.past),
      .strides = row_strides(kernel, kernel.input),
      .bias_strides = row_strides(kernel, kernel.bias),
      .past_strides = row_strides(kernel, kernel.past)};
  Dispatch dispatch;
  dispatch.kernel = "head_rows";
  set_specialization(dispatch,
                     HeadRowsSpecialization{.OUTPUT_TYPE = any_type(kernel.output_type),
                                            .INPUT_TYPE = any_type(kernel.input.data_type),
                                            .BIAS_TYPE = row_type(kernel.bias),
                                            .PAST_TYPE = row_type(kernel.past),
                                            .HAS_LENGTHS = kernel.past_lengths.has_value(),
                                            .IS_MOVED = is_moved(kernel)});
  // The rows stand for an input that is not there, so that the next one has its place.
  const std::size_t past = kernel.bias ? 2 : 1;
  dispatch.inputs = {0, kernel.bias ? std::size_t{1} : 0, kernel.past ? past : 0};
  if (kernel.past_lengths) dispatch.inputs.push_back(past + (kernel.past ? 1 : 0));
  set_constants(dispatch, constants);
  const std::size_t size = size_of(kernel.output_type);
  dispatch.stages.emplace_back(0, threads_for(kernel.output_elements() * size),
                               bytes_per_thread / size + 1);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
