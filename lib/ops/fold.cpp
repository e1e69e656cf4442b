// DML_OPERATOR_FOLD: Out[n, c, Strides * l + Dilations * k - padding] sums up In[n, (c, k...),
// (l...)], where k is the place in the window and l that of the window in each spatial dimension.
#include "ops/operator.hpp"

namespace dmlop {

Plan plan_fold(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const Sizes& sizes = description.tensor("OutputTensor").sizes;
  const Strides strides = input_strides(input);
  FoldKernel kernel{.data_type = *input.data_type};
  for (std::size_t i = 0; i + 2 < sizes.size(); ++i) {
    const auto at = [&](const char* field) {
      return static_cast<std::uint64_t>(description.integers(field)[i]);
    };
    FoldAxis axis{.extent = sizes[i + 2],
                  .start_padding = at("StartPadding"),
                  .window = at("WindowSizes"),
                  .window_stride = at("Strides"),
                  .dilation = at("Dilations")};
    const std::uint64_t padded = axis.extent + axis.start_padding + at("EndPadding");
    axis.places = (padded - axis.dilation * (axis.window - 1) - 1) / axis.window_stride + 1;
    kernel.axes.push_back(axis);
  }
  std::uint64_t element = strides[1], place = strides[2];
  for (auto axis = kernel.axes.rbegin(); axis != kernel.axes.rend(); ++axis) {
    axis->element_stride = element;
    axis->place_stride = place;
    element *= axis->window;
    place *= axis->places;
  }
  kernel.batches = merged({{sizes[0], {strides[0]}}, {sizes[1], {element}}});
  return single_pass(description, std::move(kernel), {"InputTensor"}, "OutputTensor");
}

}  // namespace dmlop
