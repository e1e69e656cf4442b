// What the operators share that are products of matrices (ops/kernels/product.hpp).
#pragma once

#include "ops/plan.hpp"

namespace dmlop {

/// A kernel whose matrices are in the last two dimensions of two tensors, either transposed first.
ProductKernel matrix_product(const TensorDesc& left, bool transposes_left, const TensorDesc& right,
                             bool transposes_right, DataType output_type);

/// The same product with fewer batches and more rows: batches that share the right matrix become
/// rows where their rows are evenly apart.
ProductKernel simplified(ProductKernel kernel);

/// A tensor with the sizes of a product's output.
ProductInput matrix_input(const TensorDesc& tensor);

/// A tensor with one element for all of a product, or one for each row or each column.
ProductInput row_input(const TensorDesc& tensor, std::size_t batch_axes);
ProductInput column_input(const TensorDesc& tensor, std::size_t batch_axes);

/// The stride from element to element of a tensor with one dimension larger than 1; 0 without.
std::uint64_t only_stride(const TensorDesc& tensor);

/// Describes an optional tensor as an input of a kernel and notes its slot; nothing where it is
/// left out.
template <typename Describe>
std::optional<ProductInput> optional_input(PlanBuilder& plan, const Description& description,
                                           std::string_view field, std::vector<std::size_t>& reads,
                                           Describe&& describe) {
  const auto slot = plan.find(field);
  if (!slot) return std::nullopt;
  reads.push_back(*slot);
  return describe(description.tensor(field));
}

}  // namespace dmlop
