// DML_OPERATOR_SLICE1: Out[o] = In[start + stride * o] in each dimension.
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_slice1(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const auto& offsets = description.integers("InputWindowOffsets");
  const auto& sizes = description.integers("InputWindowSizes");
  const auto& steps = description.integers("InputWindowStrides");
  const Strides strides = input_strides(input);

  IndexMapKernel kernel{.element_size = size_of(*input.data_type)};
  for (std::size_t i = 0; i < output.sizes.size(); ++i) {
    const auto stride = static_cast<std::int64_t>(strides[i]);
    // A negative step starts at the last element of the window.
    const std::int64_t start = offsets[i] + (steps[i] < 0 ? sizes[i] - 1 : 0);
    kernel.offset += start * stride;
    // One element takes no step: a step beyond any tensor must not meet a large stride.
    const bool moves = output.sizes[i] > 1;
    kernel.axes.push_back({.extent = output.sizes[i], .stride = moves ? steps[i] * stride : 0});
  }
  return single_pass(description, simplified(std::move(kernel)), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
