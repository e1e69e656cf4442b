// Regions of images that are sampled: forward, and the gradients.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/kernels/strided_axes.hpp"
#include "tensor/data_type.hpp"

namespace dmlop {

/// Boxes on images, each with a grid of outputs. A box is x1, y1, x2, y2, times the spatial scales.
/// Along an axis with `size` outputs, output o has n samples for each index k < n, at
///   start + (o * n + k - output_offset) * step - input_offset
/// with step = (end - start) / (size * n) or, where samples reach the corners,
/// (end - start) / max(size * n - 1, 1); n is (end - start) / size, rounded up and cut to the
/// limits. A single sample that reaches both corners lies between them, as output_offset -0.5 says.
struct Regions {
  DataType data_type = DataType::Float32;  // of images, boxes and outputs
  std::uint64_t count = 1;
  std::array<StridedAxis, 4> input;            // batch, channel, height, width
  std::array<std::uint64_t, 2> output{1, 1};   // height and width of a grid
  std::array<std::uint64_t, 2> box_strides{};  // from one box to the next, within a box
  DataType batch_type = DataType::UInt32;      // of the batch index of each box
  std::uint64_t batch_stride = 0;
  std::array<float, 2> spatial_scales{1, 1};  // of y and x
  float input_offset = 0.5F;
  float output_offset = -0.5F;
  float outside_value = 0;  // of samples an element or more beyond the image or, where samples
                            // reach the corners, beyond its outermost elements
  std::uint64_t samples_min = 1;
  std::uint64_t samples_max = 1;
  bool reaches_corners = false;
  bool is_nearest = false;     // or bilinear
  bool takes_maximum = false;  // of an output's samples, or their mean
};

/// The outputs of all grids: box, channel, height, width. Inputs: images, boxes, batch indices, of
/// which those beyond the last batch mean the last one.
struct RegionSampleKernel {
  Regions regions;

  std::uint64_t output_elements() const {
    return regions.count * regions.input[1].extent * regions.output[0] * regions.output[1];
  }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(regions.data_type)}; }
};

/// The gradient of the sum of outputs times their incoming gradients with respect to the images.
/// Inputs: incoming gradients, boxes, batch indices and, for maxima, images.
struct RegionGradientKernel {
  Regions regions;
  std::array<std::uint64_t, 4> gradient_strides{};

  std::uint64_t output_elements() const {
    std::uint64_t count = 1;
    for (const StridedAxis& axis : regions.input) count *= axis.extent;
    return count;
  }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(regions.data_type)}; }
};

/// The same with respect to the boxes: x1, y1, x2, y2 of each. Inputs: incoming gradients, boxes,
/// batch indices, images.
struct RegionBoxGradientKernel {
  Regions regions;
  std::array<std::uint64_t, 4> gradient_strides{};

  std::uint64_t output_elements() const { return regions.count * 4; }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(regions.data_type)}; }
};

/// Boxes of whole elements, cut into grids whose cells may overlap, and the maximum of each cell:
/// box, channel, height, width. Inputs: images; boxes, each batch index, x1, y1, x2, y2.
struct RegionMaximumKernel {
  DataType data_type = DataType::Float32;
  std::uint64_t count = 1;
  std::array<StridedAxis, 4> input;            // batch, channel, height, width
  std::array<std::uint64_t, 2> output{1, 1};   // height and width of a grid
  std::array<std::uint64_t, 2> box_strides{};  // from one box to the next, within a box
  float spatial_scale = 1;

  std::uint64_t output_elements() const { return count * input[1].extent * output[0] * output[1]; }
  std::vector<std::size_t> output_element_sizes() const { return {size_of(data_type)}; }
};

}  // namespace dmlop
