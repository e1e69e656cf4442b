// DML_OPERATOR_TILE: Out[o] = In[o mod size] in each dimension.
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_tile(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const Strides strides = input_strides(input);

  IndexMapKernel kernel{.element_size = size_of(*input.data_type)};
  for (std::size_t i = 0; i < output.sizes.size(); ++i) {
    kernel.axes.push_back({.extent = output.sizes[i],
                           .stride = static_cast<std::int64_t>(strides[i]),
                           .boundary = Boundary::wrap,
                           .input_extent = input.sizes[i]});
  }
  return single_pass(description, simplified(std::move(kernel)), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
