// DML_OPERATOR_ROI_ALIGN and ROI_ALIGN1: grids over regions of images, each cell of which is the
// mean or the maximum of samples. ROI_ALIGN_GRAD: the gradient with respect to images and regions.
// ROI_POOLING: the maxima of cells of whole elements.
#include "ops/interpolation.hpp"
#include "ops/operator.hpp"

namespace dmlop {
namespace {

constexpr std::int64_t reduce_max = 7;  // DML_REDUCE_FUNCTION_MAX

std::array<StridedAxis, 4> image_axes(const TensorDesc& tensor) {
  const Strides strides = input_strides(tensor);
  std::array<StridedAxis, 4> axes;
  for (std::size_t i = 0; i < 4; ++i) axes[i] = {tensor.sizes[i], {strides[i]}};
  return axes;
}

// Regions are the last two dimensions of a tensor: region, coordinate.
std::array<std::uint64_t, 2> box_strides(const TensorDesc& tensor) {
  const Strides strides = input_strides(tensor);
  return {strides[strides.size() - 2], strides.back()};
}

std::uint64_t box_count(const TensorDesc& boxes) {
  return boxes.sizes[boxes.sizes.size() - 2];
}

float number_of(const Description& description, const char* field, float otherwise) {
  if (description.find(field) == nullptr) return otherwise;
  return static_cast<float>(description.number(field, double{otherwise}));
}

// `grids` has the sizes of the outputs of the forward pass.
Regions regions_of(const Description& description, const TensorDesc& images,
                   const TensorDesc& grids) {
  const TensorDesc& boxes = description.tensor("ROITensor");
  const TensorDesc& batches = description.tensor("BatchIndicesTensor");
  const Field* corners = description.find("AlignRegionsToCorners");
  return {
      .data_type = *images.data_type,
      .count = box_count(boxes),
      .input = image_axes(images),
      .output = {grids.sizes[2], grids.sizes[3]},
      .box_strides = box_strides(boxes),
      .batch_type = *batches.data_type,
      .batch_stride = input_strides(batches).back(),
      .spatial_scales = {number_of(description, "SpatialScaleY", 1),
                         number_of(description, "SpatialScaleX", 1)},
      .input_offset = number_of(description, "InputPixelOffset", 0.5F),
      .output_offset = number_of(description, "OutputPixelOffset", -0.5F),
      .outside_value = number_of(description, "OutOfBoundsInputValue", 0),
      .samples_min = static_cast<std::uint64_t>(description.integer("MinimumSamplesPerOutput")),
      .samples_max = static_cast<std::uint64_t>(description.integer("MaximumSamplesPerOutput")),
      .reaches_corners = corners != nullptr && description.integer("AlignRegionsToCorners") != 0,
      .is_nearest = description.integer("InterpolationMode") == nearest_neighbor,
      .takes_maximum = description.integer("ReductionFunction") == reduce_max};
}

std::array<std::uint64_t, 4> strides_of(const TensorDesc& tensor) {
  const Strides strides = input_strides(tensor);
  return {strides[0], strides[1], strides[2], strides[3]};
}

}  // namespace

Plan plan_roi_align(const Description& description) {
  RegionSampleKernel kernel{regions_of(description, description.tensor("InputTensor"),
                                       description.tensor("OutputTensor"))};
  return single_pass(description, std::move(kernel),
                     {"InputTensor", "ROITensor", "BatchIndicesTensor"}, "OutputTensor");
}

Plan plan_roi_align_grad(const Description& description) {
  PlanBuilder plan(description);
  const TensorDesc& gradient = description.tensor("InputGradientTensor");
  const auto images = plan.find("InputTensor");
  const auto image_gradient = plan.find("OutputGradientTensor");
  const auto box_gradient = plan.find("OutputROIGradientTensor");
  const Regions regions = regions_of(
      description, description.tensor(images ? "InputTensor" : "OutputGradientTensor"), gradient);
  std::vector<std::size_t> reads{plan.tensor("InputGradientTensor"), plan.tensor("ROITensor"),
                                 plan.tensor("BatchIndicesTensor")};
  if (images) reads.push_back(*images);
  if (image_gradient)
    plan.add(RegionGradientKernel{regions, strides_of(gradient)}, reads, {*image_gradient});
  if (box_gradient)
    plan.add(RegionBoxGradientKernel{regions, strides_of(gradient)}, reads, {*box_gradient});
  return plan.take();
}

Plan plan_roi_pooling(const Description& description) {
  const TensorDesc& input = description.tensor("InputTensor");
  const TensorDesc& boxes = description.tensor("ROITensor");
  const TensorDesc& output = description.tensor("OutputTensor");
  RegionMaximumKernel kernel{.data_type = *input.data_type,
                             .count = box_count(boxes),
                             .input = image_axes(input),
                             .output = {output.sizes[2], output.sizes[3]},
                             .box_strides = box_strides(boxes),
                             .spatial_scale = number_of(description, "SpatialScale", 1)};
  return single_pass(description, std::move(kernel), {"InputTensor", "ROITensor"}, "OutputTensor");
}

}  // namespace dmlop
