// DML_OPERATOR_REVERSE_SUBSEQUENCES: along Axis, index i < L reads L - 1 - i, the others read i,
// where L = min(length, size).
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_reverse_subsequences(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& lengths = description.tensor("SequenceLengthsTensor");
  const auto axis = static_cast<std::size_t>(description.integer("Axis"));
  const Strides strides = input_strides(input);
  const Strides lengths_strides = input_strides(lengths);

  IndexMapKernel kernel{.element_size = size_of(*input.data_type)};
  for (std::size_t i = 0; i < input.sizes.size(); ++i) {
    kernel.axes.push_back({.extent = input.sizes[i],
                           .stride = static_cast<std::int64_t>(strides[i]),
                           .lengths_stride = i == axis ? 0 : lengths_strides[i]});
  }
  kernel.reversal = Reversal{axis, *lengths.data_type};
  return single_pass(description, simplified(std::move(kernel)),
                     {"InputTensor", "SequenceLengthsTensor"}, "OutputTensor");
}

}  // namespace dmlop
