// DML_OPERATOR_SCATTER_ELEMENTS, SCATTER_ND and ONE_HOT: a tensor in which elements are replaced by
// index. Of updates of the same element the last one stays; an index beyond its dimension updates
// nothing.
#include "ops/operator.hpp"

namespace dmlop {
namespace {

Plan scatter_plan(const Description& description, ScatterKernel kernel,
                  const std::vector<std::string_view>& reads) {
  for (StridedAxes* axes : {&kernel.outer, &kernel.updates, &kernel.inner}) *axes = merged(*axes);
  return single_pass(description, std::move(kernel), reads, "OutputTensor");
}

}  // namespace

// Out[o..., Indices[o..., j, i...], i...] = Updates[o..., j, i...]
Plan plan_scatter_elements(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& indices = description.tensor("IndicesTensor");
  const auto axis = static_cast<std::size_t>(description.integer("Axis"));
  const Strides strides = input_strides(input), indices_strides = input_strides(indices),
                updates_strides = input_strides(description.tensor("UpdatesTensor"));
  ScatterKernel kernel{.element_size = size_of(*input.data_type),
                       .index = {*indices.data_type, LargeIndex::signed_low_bits}};
  for (std::size_t i = 0; i < input.sizes.size(); ++i) {
    const StridedAxis shared{indices.sizes[i],
                             {indices_strides[i], updates_strides[i], strides[i]}};
    (i < axis ? kernel.outer : i == axis ? kernel.updates : kernel.inner).push_back(shared);
  }
  kernel.coordinates = {{input.sizes[axis], strides[axis], 0}};
  return scatter_plan(description, std::move(kernel),
                      {"InputTensor", "IndicesTensor", "UpdatesTensor"});
}

// Out[Indices[t..., :], s...] = Updates[t..., s...]. Of the leading dimensions that do not count,
// all are of size 1.
Plan plan_scatter_nd(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& indices = description.tensor("IndicesTensor");
  const Strides strides = input_strides(input), indices_strides = input_strides(indices),
                updates_strides = input_strides(description.tensor("UpdatesTensor"));
  const std::size_t rank = input.sizes.size();
  const std::size_t first =
      rank - static_cast<std::size_t>(description.integer("InputDimensionCount"));
  const std::size_t first_index =
      rank - static_cast<std::size_t>(description.integer("IndicesDimensionCount"));
  const std::uint64_t coordinates = indices.sizes.back();
  ScatterKernel kernel{.element_size = size_of(*input.data_type),
                       .index = {*indices.data_type, LargeIndex::signed_low_bits}};
  for (std::uint64_t i = 0; i < coordinates; ++i)
    kernel.coordinates.push_back(
        {input.sizes[first + i], strides[first + i], i * indices_strides.back()});
  const std::size_t first_inner = first + coordinates;
  // The dimensions of the updates end with those inside of the blocks.
  const std::size_t tuples = rank - 1 - first_index;
  const std::size_t first_update = first_inner - tuples;
  for (std::size_t i = 0; i < tuples; ++i)
    kernel.updates.push_back(
        {indices.sizes[first_index + i],
         {indices_strides[first_index + i], updates_strides[first_update + i]}});
  for (std::size_t i = first_inner; i < rank; ++i)
    kernel.inner.push_back({input.sizes[i], {0, updates_strides[i], strides[i]}});
  return scatter_plan(description, std::move(kernel),
                      {"InputTensor", "IndicesTensor", "UpdatesTensor"});
}

// The off value everywhere, and one update with the on value for each sequence along Axis.
Plan plan_one_hot(const Description& description) {
  const TensorDesc& indices = description.tensor("IndicesTensor");
  const TensorDesc& values = description.tensor("ValuesTensor");
  const Sizes& sizes = description.tensor("OutputTensor").sizes;
  const auto axis = static_cast<std::size_t>(description.integer("Axis"));
  const Strides indices_strides = input_strides(indices), values_strides = input_strides(values);
  ScatterKernel kernel{.element_size = size_of(*values.data_type),
                       .index = {*indices.data_type, LargeIndex::whole}};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i == axis) continue;
    (i < axis ? kernel.outer : kernel.inner).push_back({sizes[i], {indices_strides[i]}});
  }
  kernel.coordinates = {{sizes[axis], 0, 0}};
  // The second value stands along the last dimension of more than one.
  std::size_t last = values.sizes.size() - 1;
  while (values.sizes[last] == 1) --last;
  kernel.updates_offset = values_strides[last];
  return scatter_plan(description, std::move(kernel),
                      {"ValuesTensor", "IndicesTensor", "ValuesTensor"});
}

}  // namespace dmlop
