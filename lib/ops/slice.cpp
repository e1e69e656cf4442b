// DML_OPERATOR_SLICE and DML_OPERATOR_SLICE1: Out[o] = In[start + step * o] in each dimension.
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

Plan plan_steps(const Description& description, const std::vector<std::int64_t>& starts,
                const std::vector<std::int64_t>& steps) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const Strides strides = input_strides(input);
  IndexMapKernel kernel{.element_size = size_of(*input.data_type)};
  for (std::size_t i = 0; i < output.sizes.size(); ++i) {
    const auto stride = static_cast<std::int64_t>(strides[i]);
    kernel.offset += starts[i] * stride;
    // One element takes no step: a step beyond any tensor must not meet a large stride.
    const bool moves = output.sizes[i] > 1;
    kernel.axes.push_back({.extent = output.sizes[i], .stride = moves ? steps[i] * stride : 0});
  }
  return single_pass(description, simplified(std::move(kernel)), {"InputTensor"}, "OutputTensor");
}

}  // namespace

Plan plan_slice(const Description& description) {
  return plan_steps(description, description.integers("Offsets"), description.integers("Strides"));
}

// A negative step starts at the last element of the window.
Plan plan_slice1(const Description& description) {
  std::vector<std::int64_t> starts = description.integers("InputWindowOffsets");
  const auto& sizes = description.integers("InputWindowSizes");
  const auto& steps = description.integers("InputWindowStrides");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    if (steps[i] < 0) starts[i] += sizes[i] - 1;
  }
  return plan_steps(description, starts, steps);
}

}  // namespace dmlop
