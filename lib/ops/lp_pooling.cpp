// DML_OPERATOR_LP_POOLING: Y = (sum over the window of |x|^P)^(1/P); padding contributes 0.
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_lp_pooling(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto& window_strides = description.integers("Strides");
  const auto& window = description.integers("WindowSize");
  const auto& start = description.integers("StartPadding");
  const Strides strides = input_strides(input);

  LpPoolingKernel kernel{.data_type = *input.data_type,
                         .batch_extents = {input.sizes[0], input.sizes[1]},
                         .batch_strides = {strides[0], strides[1]}};
  const std::size_t spatial = input.sizes.size() - 2;
  for (std::size_t i = 0; i < spatial; ++i) {
    kernel.axes[i + 3 - spatial] = {.input_extent = input.sizes[i + 2],
                                    .output_extent = output.sizes[i + 2],
                                    .input_stride = strides[i + 2],
                                    .window = static_cast<std::uint64_t>(window[i]),
                                    .window_stride = static_cast<std::uint64_t>(window_strides[i]),
                                    .start_padding = start[i]};
  }
  kernel.p = static_cast<std::uint64_t>(description.integer("P"));
  return single_pass(description, std::move(kernel), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
