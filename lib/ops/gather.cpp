// DML_OPERATOR_GATHER, GATHER_ELEMENTS, GATHER_ND and GATHER_ND1: elements picked by index. An
// index beyond its dimension is that of the last element.
#include "ops/operator.hpp"

namespace dmlop {
namespace {

/// The input and the indices, and the kernel that is put together for them.
class Gathering {
 public:
  explicit Gathering(const Description& description)
      : description_(description),
        input_(description.tensor("InputTensor")),
        indices_(description.tensor("IndicesTensor")),
        input_strides_(input_strides(input_)),
        indices_strides_(input_strides(indices_)) {
    kernel_.element_size = size_of(*input_.data_type);
    kernel_.index = {.type = *indices_.data_type};
  }

  const Sizes& input_sizes() const { return input_.sizes; }
  const Sizes& indices_sizes() const { return indices_.sizes; }

  /// The next axis of the output is dimension i of the input.
  void add_input(std::size_t i) { kernel_.axes.push_back({input_.sizes[i], {input_strides_[i]}}); }
  /// It is dimension i of the indices.
  void add_indices(std::size_t i) {
    kernel_.axes.push_back({indices_.sizes[i], {0, indices_strides_[i]}});
  }
  /// It is dimension i of the input and dimension j of the indices.
  void add_both(std::size_t i, std::size_t j) {
    kernel_.axes.push_back({input_.sizes[i], {input_strides_[i], indices_strides_[j]}});
  }
  /// Indices point into dimension i; each stands `offset` elements behind the first of its tuple.
  void add_coordinate(std::size_t i, std::uint64_t offset = 0) {
    kernel_.coordinates.push_back({input_.sizes[i], input_strides_[i], offset});
  }
  /// The stride of the last dimension of the indices.
  std::uint64_t tuple_stride() const { return indices_strides_.back(); }

  Plan plan() {
    kernel_.axes = merged(kernel_.axes);
    return single_pass(description_, std::move(kernel_), {"InputTensor", "IndicesTensor"},
                       "OutputTensor");
  }

 private:
  const Description& description_;
  const TensorDesc &input_, &indices_;
  Strides input_strides_, indices_strides_;
  GatherKernel kernel_;
};

// Out[b..., t..., s...] = In[b..., Indices[b..., t..., :], s...]. Of the leading dimensions that do
// not count, all are of size 1.
Plan gather_nd(const Description& description, std::size_t batches) {
  Gathering gathering(description);
  const std::size_t rank = gathering.input_sizes().size();
  const std::size_t input =
      rank - static_cast<std::size_t>(description.integer("InputDimensionCount"));
  const std::size_t indices =
      rank - static_cast<std::size_t>(description.integer("IndicesDimensionCount"));
  const std::uint64_t coordinates = gathering.indices_sizes().back();
  for (std::size_t i = 0; i < batches; ++i) gathering.add_both(input + i, indices + i);
  for (std::size_t i = indices + batches; i + 1 < rank; ++i) gathering.add_indices(i);
  for (std::uint64_t i = 0; i < coordinates; ++i)
    gathering.add_coordinate(input + batches + i, i * gathering.tuple_stride());
  for (std::size_t i = input + batches + coordinates; i < rank; ++i) gathering.add_input(i);
  return gathering.plan();
}

}  // namespace

// Out[o..., t..., i...] = In[o..., Indices[t...], i...]
Plan plan_gather(const Description& description) {
  Gathering gathering(description);
  const std::size_t rank = gathering.input_sizes().size();
  const auto axis = static_cast<std::size_t>(description.integer("Axis"));
  for (std::size_t i = 0; i < axis; ++i) gathering.add_input(i);
  for (std::size_t i = 0; i < rank; ++i) gathering.add_indices(i);
  gathering.add_coordinate(axis);
  for (std::size_t i = axis + 1; i < rank; ++i) gathering.add_input(i);
  return gathering.plan();
}

// Out[o..., j, i...] = In[o..., Indices[o..., j, i...], i...]
Plan plan_gather_elements(const Description& description) {
  Gathering gathering(description);
  const auto axis = static_cast<std::size_t>(description.integer("Axis"));
  for (std::size_t i = 0; i < gathering.input_sizes().size(); ++i) {
    if (i == axis) {
      gathering.add_indices(i);
    } else {
      gathering.add_both(i, i);
    }
  }
  gathering.add_coordinate(axis);
  return gathering.plan();
}

Plan plan_gather_nd(const Description& description) {
  return gather_nd(description, 0);
}

Plan plan_gather_nd1(const Description& description) {
  return gather_nd(description,
                   static_cast<std::size_t>(description.integer("BatchDimensionCount")));
}

}  // namespace dmlop
