// DML_OPERATOR_DEPTH_TO_SPACE(1) and DML_OPERATOR_SPACE_TO_DEPTH(1). The deep tensor's channels
// count through depth and the rows and columns of a block: depth slowest (COLUMN_ROW_DEPTH), or
// fastest (DEPTH_COLUMN_ROW).
#include "ops/index_map.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

// In the order of DML_DEPTH_SPACE_ORDER.
enum class DepthOrder : std::uint8_t { depth_column_row, column_row_depth };

DepthOrder order_of(const Description& description) {
  return static_cast<DepthOrder>(description.integer("Order"));
}

Plan moved(const Description& description, std::vector<IndexMapAxis> axes) {
  IndexMapKernel kernel{.element_size = size_of(*description.tensor("InputTensor").data_type),
                        .axes = std::move(axes)};
  return single_pass(description, simplified(std::move(kernel)), {"InputTensor"}, "OutputTensor");
}

Plan depth_to_space(const Description& description, DepthOrder order) {
  const TensorDesc& input = description.tensor("InputTensor");
  const Sizes& sizes = description.tensor("OutputTensor").sizes;
  const auto block = static_cast<std::uint64_t>(description.integer("BlockSize"));
  const Strides strides = input_strides(input);
  const bool depth_is_fastest = order == DepthOrder::depth_column_row;
  const std::uint64_t depth = strides[1] * (depth_is_fastest ? 1 : block * block);
  const std::uint64_t column = strides[1] * (depth_is_fastest ? sizes[1] : 1);
  return moved(description,
               {whole_axis(sizes[0], strides[0]), whole_axis(sizes[1], depth),
                whole_axis(sizes[2] / block, strides[2]), whole_axis(block, block * column),
                whole_axis(sizes[3] / block, strides[3]), whole_axis(block, column)});
}

Plan space_to_depth(const Description& description, DepthOrder order) {
  const TensorDesc& input = description.tensor("InputTensor");
  const Sizes& sizes = description.tensor("OutputTensor").sizes;
  const auto block = static_cast<std::uint64_t>(description.integer("BlockSize"));
  const Strides strides = input_strides(input);
  const IndexMapAxis depth = whole_axis(input.sizes[1], strides[1]);
  const IndexMapAxis row = whole_axis(block, strides[2]), column = whole_axis(block, strides[3]);
  const bool depth_is_fastest = order == DepthOrder::depth_column_row;
  return moved(description, {whole_axis(sizes[0], strides[0]), depth_is_fastest ? row : depth,
                             depth_is_fastest ? column : row, depth_is_fastest ? depth : column,
                             whole_axis(sizes[2], block * strides[2]),
                             whole_axis(sizes[3], block * strides[3])});
}

}  // namespace

Plan plan_depth_to_space(const Description& description) {
  return depth_to_space(description, DepthOrder::depth_column_row);
}

Plan plan_depth_to_space1(const Description& description) {
  return depth_to_space(description, order_of(description));
}

Plan plan_space_to_depth(const Description& description) {
  return space_to_depth(description, DepthOrder::depth_column_row);
}

Plan plan_space_to_depth1(const Description& description) {
  return space_to_depth(description, order_of(description));
}

}  // namespace dmlop
