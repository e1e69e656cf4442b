// The operators on regions of images and their gradients.
#include "reference/regions.hpp"

#include <doctest/doctest.h>

#include <limits>

#include "plan_case.hpp"
#include "sweep.hpp"
#include "types.hpp"

namespace dmlop::test::regions_test {
namespace {

/// Any strides, and multiples of a step.
Tensor random_steps(DataType type, const List& sizes, double low, double step, std::uint64_t count,
                    Random& random) {
  Tensor tensor = random_tensor(type, sizes, random);
  for_each_index(sizes, [&](const Index& i) {
    const double value = low + step * static_cast<double>(random.below(count));
    std::memcpy(tensor.at(i), element(type, value).data(), tensor.element_size());
  });
  return tensor;
}

PlanCase align_case(const RoiAlign& align, bool is_first, const Tensor& image, const Tensor& boxes,
                    const Tensor& batches, const Tensor& output) {
  auto fields = align.fields(is_first);
  fields["OutOfBoundsInputValue"] = align.outside;
  return {is_first ? "DML_OPERATOR_ROI_ALIGN" : "DML_OPERATOR_ROI_ALIGN1",
          fields,
          {{"InputTensor", image}, {"ROITensor", boxes}, {"BatchIndicesTensor", batches}},
          {{"OutputTensor", output, std::nullopt, 1}}};
}

Tensor batches_of(const std::vector<std::uint32_t>& values) {
  return Tensor::of(DataType::UInt32, {values.size()}, values);
}

const Tensor one_to_sixteen =
    floats({1, 1, 4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16});

TEST_CASE("ROI_ALIGN1: the page's regions, with the nearest elements") {
  const Tensor boxes = floats({4, 4}, {0, 0, 2, 2, 2, 0, 4, 2, 0, 2, 2, 4, 2, 2, 4, 4});
  check_plan_case(align_case({.is_nearest = true, .input_offset = 0, .output_offset = 0}, false,
                             one_to_sixteen, boxes, batches_of({0, 0, 0, 0}),
                             floats({4, 1, 1, 3}, {1, 2, 2, 3, 4, 4, 9, 10, 10, 11, 12, 12})));
}

TEST_CASE("ROI_ALIGN: means and maxima of samples, and samples outside") {
  const Tensor boxes = floats({2, 4}, {0, 0, 2, 2, -2, 0, 2, 2});
  RoiAlign align{.outside = 100, .samples_min = 2, .samples_max = 2};
  check_plan_case(align_case(align, true, one_to_sixteen, boxes, batches_of({0, 0}),
                             floats({2, 1, 1, 1}, {3.5, 51.75})));
  align.takes_maximum = true;
  check_plan_case(align_case(align, true, one_to_sixteen, boxes, batches_of({0, 0}),
                             floats({2, 1, 1, 1}, {6, 100})));
}

struct RandomRegions {
  Tensor image, boxes, batches;
  List grids;
};

/// Some batch indices are beyond the last one, also in their high half.
RandomRegions random_regions(Random& random, DataType index_type = DataType::UInt32) {
  const DataType type = random.one_of(F2);
  const std::uint64_t count = random.from_to(1, 3);
  const List sizes{random.from_to(1, 3), random.from_to(1, 2), random.from_to(1, 7),
                   random.from_to(1, 7)};
  List box_sizes{count, 4}, batch_sizes{count};
  box_sizes.insert(box_sizes.begin(), random.below(3), 1);
  batch_sizes.insert(batch_sizes.begin(), random.below(4), 1);
  Tensor batches = random_tensor(index_type, batch_sizes, random);
  for_each_index(batch_sizes, [&](const Index& i) {
    std::uint64_t batch = random.below(sizes[0] + 1);
    if (index_type == DataType::UInt64 && random.one_in(4)) batch += std::uint64_t{1} << 32;
    std::memcpy(batches.at(i), &batch, batches.element_size());
  });
  return {random_steps(type, sizes, 0.125, 0.125, 129, random),
          random_steps(type, box_sizes, -3, 0.25, 60, random),
          batches,
          {count, sizes[1], random.from_to(1, 3), random.from_to(1, 3)}};
}

RoiAlign random_align(Random& random, bool is_first) {
  RoiAlign align{.takes_maximum = random.one_in(2),
                 .is_nearest = random.one_in(3),
                 .scale_x = random.one_of<float>({0.5F, 1}),
                 .scale_y = random.one_of<float>({0.25F, 1}),
                 .outside = random.one_of<float>({0, -2}),
                 .samples_min = random.from_to(1, 2)};
  align.samples_max = align.samples_min + random.below(4);
  if (is_first) return align;
  align.reaches_corners = random.one_in(2);
  align.input_offset = random.one_of<float>({0, 0.5F});
  align.output_offset = random.one_of<float>({0, -0.5F});
  return align;
}

TEST_CASE("ROI_ALIGN and ROI_ALIGN1: random regions, also empty, inverted and outside") {
  Random random(81);
  for (int i = 0; i < 300; ++i) {
    const bool is_first = random.one_in(2);
    const RoiAlign align = random_align(random, is_first);
    const auto [image, boxes, batches, grids] =
        random_regions(random, random.one_of<DataType>({DataType::UInt32, DataType::UInt64}));
    check_plan_case(align_case(align, is_first, image, boxes, batches,
                               align.result(image, boxes, batches, grids)));
  }
}

TEST_CASE("ROI_ALIGN: more samples than a thread takes at once") {
  Random random(84);
  const Tensor image = random_steps(DataType::Float32, {1, 1, 9, 9}, 0.125, 0.125, 129, random);
  const Tensor boxes = floats({2, 4}, {0.5, 1, 7, 8, -3, -3, 20, 20});
  RoiAlign align{.outside = 0.5F, .samples_min = 240, .samples_max = 240};
  for (const bool takes_maximum : {false, true}) {
    align.takes_maximum = takes_maximum;
    PlanCase a_case = align_case(align, true, image, boxes, batches_of({0, 0}),
                                 align.result(image, boxes, batches_of({0, 0}), {2, 1, 1, 1}));
    a_case.outputs[0].tolerance = 1e-5;
    check_plan_case(a_case);
  }
}

// A GPU's thread takes a hundred rows of samples of this image at once. A few more than the image
// has rows lie on its edges.
TEST_CASE("ROI_ALIGN: samples on the edges of an image are some rows more than it has") {
  Random random(85);
  const Tensor image = random_steps(DataType::Float32, {1, 1, 100, 498}, 0.125, 0.125, 129, random);
  const Tensor boxes = floats({1, 4}, {-20.3F, -20.3F, 520.4F, 123.4F});
  const RoiAlign align{.samples_max = 1000};
  PlanCase a_case = align_case(align, true, image, boxes, batches_of({0}),
                               align.result(image, boxes, batches_of({0}), {1, 1, 1, 1}));
  a_case.outputs[0].tolerance = 1e-5;
  check_plan_case(a_case);
}

TEST_CASE("ROI_ALIGN: as many samples as a region has elements, also far outside of the image") {
  const Tensor boxes = floats({2, 4}, {0, 0, 4, 4, -4'000'000, 1, 4'000'000, 2});
  const RoiAlign align{.samples_max = 4'294'967'295};
  check_plan_case(align_case(align, true, one_to_sixteen, boxes, batches_of({0, 0}),
                             floats({2, 1, 1, 1}, {8.5, 26.0F / 8'000'000})));
}

PlanCase gradient_case(const RoiAlign& align, const Tensor& gradient, const Tensor& boxes,
                       const Tensor& batches) {
  return {
      "DML_OPERATOR_ROI_ALIGN_GRAD",
      align.fields(false),
      {{"InputGradientTensor", gradient}, {"ROITensor", boxes}, {"BatchIndicesTensor", batches}},
      {}};
}

TEST_CASE("ROI_ALIGN_GRAD: the page's gradients of regions that do not overlap") {
  const Tensor boxes = floats({4, 4}, {0, 0, 2, 2, 2, 0, 4, 2, 0, 2, 2, 4, 2, 2, 4, 4});
  PlanCase a_case = gradient_case({.is_nearest = true, .input_offset = 0, .output_offset = 0},
                                  floats({4, 1, 1, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}),
                                  boxes, batches_of({0, 0, 0, 0}));
  a_case.outputs.push_back(
      {"OutputGradientTensor",
       floats({1, 1, 4, 4}, {1, 5, 4, 11, 0, 0, 0, 0, 7, 17, 10, 23, 0, 0, 0, 0})});
  check_plan_case(a_case);
}

TEST_CASE("ROI_ALIGN_GRAD: a slope counts for the start and the end of a box") {
  const Tensor image = floats({1, 1, 1, 4}, {0, 1, 3, 7});
  PlanCase a_case =
      gradient_case({.input_offset = 0, .output_offset = 0}, floats({1, 1, 1, 2}, {1, 10}),
                    floats({1, 4}, {0.5, 0, 3.5, 0}), batches_of({0}));
  a_case.inputs.push_back({"InputTensor", image});
  // At 0.5 the slope is 1, with 4 for the start; at 2 it is 4, with 2 for each.
  a_case.outputs.push_back({"OutputROIGradientTensor", floats({1, 4}, {4 + 80, 0, 80, 0})});
  check_plan_case(a_case);
}

TEST_CASE("ROI_ALIGN_GRAD: where samples reach the corners, slopes count up to the last element") {
  PlanCase a_case = gradient_case({.reaches_corners = true, .input_offset = 0, .output_offset = 0},
                                  floats({1, 1, 1, 2}, {1, 10}), floats({1, 4}, {0.5, 0, 2.5, 0}),
                                  batches_of({0}));
  a_case.inputs.push_back({"InputTensor", floats({1, 1, 1, 4}, {0, 1, 3, 7})});
  // At 0.5 the slope is 1, with 3 for the start; at 2.5 it is 4, with 3 for the end.
  a_case.outputs.push_back({"OutputROIGradientTensor", floats({1, 4}, {3, 0, 120, 0})});
  check_plan_case(a_case);
}

TEST_CASE("ROI_ALIGN_GRAD: an infinite gradient counts only where a sample is in the image") {
  const Tensor image = floats({1, 1, 1, 4}, {0, 1, 3, 7});
  constexpr float infinity = std::numeric_limits<float>::infinity();
  PlanCase a_case = gradient_case({.input_offset = 0, .output_offset = 0},
                                  floats({2, 1, 1, 1}, {infinity, -infinity}),
                                  floats({2, 4}, {0, 5, 2, 9, 1.5, 0, 3.5, 0}), batches_of({0, 0}));
  a_case.inputs.push_back({"InputTensor", image});
  // The second sample is at 1.5, where the slope is 2. Infinity times a slope of 0 is NaN.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  a_case.outputs.push_back({"OutputROIGradientTensor",
                            floats({2, 4}, {0, 0, 0, 0, -infinity, nan, nan, nan}), std::nullopt,
                            1});
  check_plan_case(a_case);
}

// DirectML's gradient, and what TensorFlow's CropAndResize, which runs ROI_ALIGN1, promises.
TEST_CASE(
    "ROI_ALIGN1 and its gradient: a single sample that reaches both corners is between them") {
  RoiAlign align{.reaches_corners = true, .input_offset = 0, .output_offset = 0};
  const Tensor boxes = floats({1, 4}, {0, 1.5, 0, 5.75}), batches = batches_of({0});
  const Tensor image = floats({1, 1, 7, 1}, {0, 0, 0, 8, 16, 0, 0});
  for (const bool takes_maximum : {false, true}) {
    CAPTURE(takes_maximum);
    align.takes_maximum = takes_maximum;
    // At 3.625.
    check_plan_case(align_case(align, false, image, boxes, batches, floats({1, 1, 1, 1}, {13})));
    PlanCase gradient = gradient_case(align, floats({1, 1, 1, 1}, {8}), boxes, batches);
    gradient.inputs.push_back({"InputTensor", image});
    gradient.outputs.push_back(
        {"OutputGradientTensor", floats({1, 1, 7, 1}, {0, 0, 0, 3, 5, 0, 0})});
    check_plan_case(gradient);
  }
}

TEST_CASE("ROI_ALIGN_GRAD: random regions that meet in one image") {
  Random random(82);
  for (int i = 0; i < 200; ++i) {
    const RoiAlign align = random_align(random, false);
    const auto [image, boxes, batches, grids] = random_regions(random);
    const Tensor gradient = random_steps(image.type, grids, 0.5, 0.5, 17, random);
    PlanCase a_case = gradient_case(align, gradient, boxes, batches);
    if (align.takes_maximum || random.one_in(2)) a_case.inputs.push_back({"InputTensor", image});
    a_case.outputs.push_back(
        {"OutputGradientTensor", align.gradient(image, gradient, boxes, batches), std::nullopt, 1});
    check_plan_case(a_case);
  }
}

// A sample outside is 0, more than all elements.
TEST_CASE("ROI_ALIGN_GRAD: maxima outside of negative images pass nothing on") {
  Random random(86);
  for (int i = 0; i < 60; ++i) {
    RoiAlign align = random_align(random, false);
    align.takes_maximum = true;
    const auto [positive, boxes, batches, grids] = random_regions(random);
    const Tensor image = random_steps(positive.type, positive.sizes, -16.125, 0.125, 129, random);
    const Tensor gradient = random_steps(image.type, grids, 0.5, 0.5, 17, random);
    PlanCase a_case = gradient_case(align, gradient, boxes, batches);
    a_case.inputs.push_back({"InputTensor", image});
    a_case.outputs.push_back(
        {"OutputGradientTensor", align.gradient(image, gradient, boxes, batches), std::nullopt, 1});
    check_plan_case(a_case);
  }
}

TEST_CASE("ROI_ALIGN_GRAD: more regions than a thread takes at once") {
  Random random(85);
  constexpr std::uint64_t count = 150;
  const RoiAlign align{.samples_min = 2, .samples_max = 2};
  const Tensor image = random_steps(DataType::Float32, {2, 1, 5, 6}, 1, 1, 8, random);
  const Tensor boxes = random_steps(DataType::Float32, {count, 4}, -1, 0.25, 24, random);
  std::vector<std::uint32_t> batches(count);
  for (std::uint32_t& batch : batches) batch = static_cast<std::uint32_t>(random.below(2));
  const Tensor gradient = random_steps(DataType::Float32, {count, 1, 2, 2}, 0.5, 0.5, 17, random);
  PlanCase a_case = gradient_case(align, gradient, boxes, batches_of(batches));
  a_case.outputs.push_back({"OutputGradientTensor",
                            align.gradient(image, gradient, boxes, batches_of(batches)),
                            std::nullopt, 1, 1e-5});
  check_plan_case(a_case);
}

PlanCase pooling_case(const Tensor& image, const Tensor& boxes, double scale,
                      const Tensor& output) {
  return {"DML_OPERATOR_ROI_POOLING",
          {{"SpatialScale", scale},
           {"PooledSize", {{"Width", output.sizes[3]}, {"Height", output.sizes[2]}}}},
          {{"InputTensor", image}, {"ROITensor", boxes}},
          {{"OutputTensor", output}}};
}

TEST_CASE("ROI_POOLING: both corners belong to a region, and cells may share elements") {
  check_plan_case(pooling_case(one_to_sixteen, floats({1, 1, 2, 5}, {0, 0, 0, 2, 2, 0, 3, 3, 1, 1}),
                               1, floats({2, 1, 2, 2}, {6, 7, 10, 11, 16, 16, 16, 16})));
}

TEST_CASE("ROI_POOLING: a corner may be at infinity") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  const Tensor image = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  // The first begins below the image, the second at its second row; the third ends before it.
  const Tensor boxes = floats(
      {1, 1, 3, 5}, {0, 0, 5, 1, infinity, 0, 0, 1, 0, infinity, 0, -infinity, 0, -infinity, 1});
  check_plan_case(pooling_case(image, boxes, 1, floats({3, 1, 1, 1}, {0, 3, 0})));
}

TEST_CASE("ROI_POOLING: cells of more elements than a thread takes at once") {
  Tensor image = Tensor::packed(DataType::Float32, {1, 1, 300, 300});
  const float largest = 500;  // among what is taken first
  std::memcpy(image.at({0, 0, 25, 15}), &largest, sizeof largest);
  const Tensor boxes = floats({1, 1, 2, 5}, {0, 0, 0, 299, 299, 0, 10, 20, 250, 280});
  check_plan_case(pooling_case(image, boxes, 1, roi_maxima(image, boxes, {2, 1, 1, 2}, 1)));
}

TEST_CASE("ROI_POOLING: random regions, also inverted and outside") {
  Random random(83);
  for (int i = 0; i < 200; ++i) {
    const auto [image, unused, batches, grids] = random_regions(random);
    Tensor boxes = random_steps(image.type, {1, 1, grids[0], 5}, -4, 1, 16, random);
    for (std::uint64_t roi = 0; roi < grids[0]; ++roi) {
      const auto batch = static_cast<double>(random.below(image.sizes[0]));
      std::memcpy(boxes.at({0, 0, roi, 0}), element(image.type, batch).data(),
                  boxes.element_size());
    }
    // A stride of 0 may have put a batch in the place of another number.
    bool is_valid = true;
    for (std::uint64_t roi = 0; roi < grids[0]; ++roi) {
      const double batch = RoiAlign::box(boxes, roi, 0);
      is_valid = is_valid && batch >= 0 && batch < static_cast<double>(image.sizes[0]);
    }
    if (!is_valid) continue;
    const double scale = random.one_of<double>({1, 0.5, 0.25});
    check_plan_case(pooling_case(image, boxes, scale, roi_maxima(image, boxes, grids, scale)));
  }
}

}  // namespace
}  // namespace dmlop::test::regions_test
