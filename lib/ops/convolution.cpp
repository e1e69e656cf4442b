// DML_OPERATOR_CONVOLUTION, CONVOLUTION_INTEGER and QUANTIZED_LINEAR_CONVOLUTION, as products: rows
// are the output channels of a group, columns the output positions, and the sum goes over the
// group's input channels and the taps of the filter.
#include <algorithm>

#include "ops/activation.hpp"
#include "ops/index_map.hpp"
#include "ops/operator.hpp"
#include "ops/products.hpp"

namespace dmlop {
namespace {

/// The arrays that all convolutions have, for one spatial axis.
struct Geometry {
  std::uint64_t stride, dilation;
  std::int64_t start_padding;
  std::uint64_t output_padding = 0;
};

Geometry geometry_of(const Description& description, std::size_t i) {
  const auto at = [&](const char* field) {
    return static_cast<std::uint64_t>(description.integers(field)[i]);
  };
  Geometry geometry{at("Strides"), at("Dilations"), description.integers("StartPadding")[i]};
  if (description.find("OutputPadding") != nullptr) geometry.output_padding = at("OutputPadding");
  return geometry;
}

/// The source index of tap t at output o is o * stride + t * dilation - start_padding; backward it
/// is the i with i * stride + t * dilation - start_padding = o.
ProductWindow window_of(const Geometry& geometry, bool is_backward, std::uint64_t input_extent,
                        std::uint64_t output_extent, std::uint64_t taps) {
  const auto stride = static_cast<std::int64_t>(geometry.stride);
  const auto dilation = static_cast<std::int64_t>(geometry.dilation);
  return {.output_extent = output_extent,
          .computed = output_extent - geometry.output_padding,
          .taps = taps,
          .input_extent = input_extent,
          .step = is_backward ? 1 : stride,
          .tap_step = is_backward ? -dilation : dilation,
          .offset = is_backward ? geometry.start_padding : -geometry.start_padding,
          .divisor = is_backward ? stride : 1};
}

/// The taps in the opposite order.
void flip(ProductWindow& window) {
  window.offset += static_cast<std::int64_t>(window.taps - 1) * window.tap_step;
  window.tap_step = -window.tap_step;
}

/// The stride of the columns of a convolution that is a product of matrices: each window is one
/// element, and all axes of the input are one. Nothing for all others.
std::optional<std::uint64_t> stride_of_points(const ProductKernel& kernel) {
  std::optional<std::uint64_t> stride, next;  // of the innermost axis, and of the one around it
  for (std::size_t i = kernel.windows.size(); i-- > 0;) {
    const ProductWindow& window = kernel.windows[i];
    const bool is_plain = window.taps == 1 && window.step == 1 && window.offset == 0 &&
                          window.divisor == 1 && window.computed == window.output_extent &&
                          window.input_extent == window.output_extent;
    if (!is_plain) return std::nullopt;
    if (window.input_extent == 1) continue;
    if (next && window.input_stride != *next) return std::nullopt;
    if (!stride) stride = window.input_stride;
    next = window.input_stride * window.input_extent;
  }
  return stride.value_or(1);
}

/// The convolution without what follows the sums.
ProductKernel convolution(const Description& description, bool is_backward, bool flips,
                          DataType output_type) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& filter = description.tensor("FilterTensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  const Strides input_at = input_strides(input), filter_at = input_strides(filter);
  const auto groups = static_cast<std::uint64_t>(description.integer("GroupCount"));
  const std::uint64_t channels = input.sizes[1] / groups, rows = output.sizes[1] / groups;
  // Backward the filter is {input channels, output channels of a group, ...}.
  const std::uint64_t row_stride = filter_at[is_backward ? 1 : 0];
  const std::uint64_t depth_stride = filter_at[is_backward ? 0 : 1];
  ProductKernel kernel{
      .output_type = output_type,
      .batches = {input.sizes[0], groups},
      .rows = rows,
      .left = {.data_type = *filter.data_type,
               .batch_strides = {0, is_backward ? channels * depth_stride : rows * row_stride},
               .row_stride = row_stride},
      .right = {.data_type = *input.data_type,
                .batch_strides = {input_at[0], channels * input_at[1]}},
      .depth = channels,
      .left_depth_stride = depth_stride,
      .right_depth_stride = input_at[1]};
  for (std::size_t i = 2; i < input.sizes.size(); ++i) {
    ProductWindow window = window_of(geometry_of(description, i - 2), is_backward, input.sizes[i],
                                     output.sizes[i], filter.sizes[i]);
    window.left_stride = filter_at[i];
    window.input_stride = input_at[i];
    if (flips) flip(window);
    kernel.windows.push_back(window);
  }
  if (const auto stride = stride_of_points(kernel)) {
    kernel.right.column_stride = *stride;
    kernel.columns = kernel.column_count();
    kernel.windows.clear();
  }
  return kernel;
}

/// A tensor with one element for all output channels, or one for each.
ProductInput channel_input(const TensorDesc& tensor, const ProductKernel& kernel) {
  const std::uint64_t stride = only_stride(tensor);
  return {.data_type = *tensor.data_type,
          .batch_strides = {0, kernel.rows * stride},
          .row_stride = stride};
}

/// Makes both scales one input.
void join_scales(PlanBuilder& plan, const Description& description, ProductKernel& kernel,
                 std::vector<std::size_t>& reads) {
  JoinKernel joined;
  std::vector<std::size_t> scales;
  const auto add = [&](std::string_view field, std::optional<ProductInput>& input) {
    TensorDesc packed = description.tensor(field);
    scales.push_back(plan.tensor(field));
    joined.parts.push_back(packed_copy(packed));
    packed.strides.reset();
    input = channel_input(packed, kernel);
  };
  add("FilterScaleTensor", kernel.left_scale);
  add("InputScaleTensor", kernel.right_scale);
  kernel.right_scale->offset = joined.parts.front().output_elements();
  kernel.has_joined_scales = true;
  const std::size_t both =
      plan.temporary("the scales", joined.output_elements(), size_of(kernel.left_scale->data_type));
  plan.add(std::move(joined), scales, {both});
  const auto left = std::find(reads.begin(), reads.end(), scales.front());
  *left = both;
  reads.erase(left + 1);
}

/// Adds the zero points, of the filter on the left and of the input on the right.
void add_zero_points(PlanBuilder& plan, const Description& description, ProductKernel& kernel,
                     std::vector<std::size_t>& reads) {
  const auto by_channel = [&](const TensorDesc& tensor) { return channel_input(tensor, kernel); };
  reads = {plan.tensor("FilterTensor"), plan.tensor("InputTensor")};
  kernel.left_zero = optional_input(plan, description, "FilterZeroPointTensor", reads, by_channel);
  kernel.right_zero = optional_input(plan, description, "InputZeroPointTensor", reads, by_channel);
}

}  // namespace

Plan plan_convolution(const Description& description) {
  PlanBuilder plan(description);
  constexpr std::int64_t convolves = 0, backward = 1;  // DML_CONVOLUTION_MODE, _DIRECTION
  const bool is_backward = description.integer("Direction") == backward;
  // Backward the mode that takes the filter as it is spreads it as it is.
  const bool flips = description.integer("Mode") == convolves;
  std::vector<std::size_t> reads{plan.tensor("FilterTensor"), plan.tensor("InputTensor")};
  const auto bias = plan.find("BiasTensor");
  if (bias) reads.push_back(*bias);
  const auto make = [&](DataType written) {
    ProductKernel kernel = convolution(description, is_backward, flips, written);
    if (bias) kernel.added = channel_input(description.tensor("BiasTensor"), kernel);
    return simplified(std::move(kernel));
  };
  add_with_activation(plan, description, "OutputTensor", make, reads);
  return plan.take();
}

Plan plan_convolution_integer(const Description& description) {
  PlanBuilder plan(description);
  ProductKernel kernel = convolution(description, false, false, DataType::Int32);
  std::vector<std::size_t> reads;
  add_zero_points(plan, description, kernel, reads);
  plan.add(simplified(std::move(kernel)), reads, {plan.tensor("OutputTensor")});
  return plan.take();
}

Plan plan_quantized_linear_convolution(const Description& description) {
  PlanBuilder plan(description);
  ProductKernel kernel =
      convolution(description, false, false, *description.tensor("OutputTensor").data_type);
  const auto by_channel = [&](const TensorDesc& tensor) { return channel_input(tensor, kernel); };
  std::vector<std::size_t> reads;
  add_zero_points(plan, description, kernel, reads);
  kernel.left_scale = optional_input(plan, description, "FilterScaleTensor", reads, by_channel);
  kernel.right_scale = optional_input(plan, description, "InputScaleTensor", reads, by_channel);
  // The bias is in units of both scales.
  kernel.added = optional_input(plan, description, "BiasTensor", reads, by_channel);
  kernel.is_added_scaled = true;
  const auto scale = optional_input(plan, description, "OutputScaleTensor", reads, by_channel);
  kernel.quantization = ProductQuantization{
      *scale, optional_input(plan, description, "OutputZeroPointTensor", reads, by_channel)};
  if (reads.size() > ProductKernel::inputs_most) join_scales(plan, description, kernel, reads);
  plan.add(simplified(std::move(kernel)), reads, {plan.tensor("OutputTensor")});
  return plan.take();
}

}  // namespace dmlop
