// DML_OPERATOR_SLICE: Out[o] = In[offset + stride * o] in each dimension.
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_slice(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto& offsets = description.integers("Offsets");
  const auto& steps = description.integers("Strides");
  const Strides strides = input_strides(input);

  IndexMapKernel kernel{.element_size = size_of(*input.data_type)};
  for (std::size_t i = 0; i < output.sizes.size(); ++i) {
    const auto stride = static_cast<std::int64_t>(strides[i]);
    kernel.offset += offsets[i] * stride;
    // One element takes no step: a step beyond any tensor must not meet a large stride.
    const bool moves = output.sizes[i] > 1;
    kernel.axes.push_back({.extent = output.sizes[i], .stride = moves ? steps[i] * stride : 0});
  }
  return single_pass(description, simplified(std::move(kernel)), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
