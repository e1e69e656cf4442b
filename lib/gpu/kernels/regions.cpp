// Regions of images: shaders/region_*.hlsl.
#include <algorithm>
#include <cmath>

#include "base/threshold.hpp"
#include "gpu/kernels/kinds.hpp"
#include "gpu/kernels/parameters.hpp"

namespace dmlop::gpu::kernels {
namespace {

#include "../../../shaders/parameters/regions.hlsli"

DMLOP_SPECIALIZATION(RegionsSpecialization, REGIONS_SPECIALIZATION)

constexpr std::uint64_t work_most = 50'000;  // of a thread, with room for what is not counted
constexpr Threshold stage_work{work_most, 90};  // of a thread in one of several stages
constexpr std::uint64_t stages_most = 4096;
constexpr std::uint64_t scratch_bytes_most = std::uint64_t{1} << 30;

constexpr const char* too_large = "its images are too large for a GPU kernel";
constexpr const char* too_many_samples = "it has too many samples for a GPU kernel";

/// Something for each of two axes: of height, of width.
struct Two {
  std::uint64_t y;
  std::uint64_t x;
};

// The most samples of an output that a thread looks at, as in the kernel: those on the image, which
// lie nearly an element apart where there are more than the fewest.
std::uint64_t most_samples(const Regions& regions, std::size_t i) {
  return std::min(regions.samples_max,
                  std::max(regions.samples_min, regions.input[2 + i].extent + 10));
}
Two most_samples(const Regions& regions) {
  return {most_samples(regions, 0), most_samples(regions, 1)};
}

// The most samples that an element can be part of, as in the kernel.
Two most_near(const Regions& regions) {
  const auto near = [&](std::size_t i) {
    return std::max<std::uint64_t>(20, regions.output[i] * regions.samples_min);
  };
  return {near(0), near(1)};
}

// The iterations of two loops, one in the other.
std::uint64_t looped(std::uint64_t rows, std::uint64_t columns) {
  return rows * (columns + 2) + 8;
}

// How many of `rows` fit a thread; at least one.
std::uint64_t rows_at_once(std::uint64_t columns) {
  return std::max<std::uint64_t>(1, stage_work / (columns + 2));
}

RegionsParameters parameters_of(const Regions& regions, std::uint64_t elements) {
  RegionsParameters parameters{.elements = word(elements),
                               .count = word(regions.count),
                               .batch_stride = word(regions.batch_stride),
                               .input_offset = regions.input_offset,
                               .output_offset = regions.output_offset,
                               .outside_value = regions.outside_value,
                               .samples_min = static_cast<float>(regions.samples_min),
                               .samples_max = static_cast<float>(regions.samples_max)};
  for (std::size_t i = 0; i < 4; ++i) {
    parameters.input_extents[i] = word(regions.input[i].extent);
    parameters.input_strides[i] = word(regions.input[i].stride());
  }
  for (std::size_t i = 0; i < 2; ++i) {
    parameters.outputs[i] = word(regions.output[i]);
    parameters.box_strides[i] = word(regions.box_strides[i]);
    parameters.scales[i] = regions.spatial_scales[i];
  }
  return parameters;
}

Dispatch dispatch_of(const char* kernel, const Regions& regions) {
  Dispatch dispatch;
  dispatch.kernel = kernel;
  set_specialization(dispatch, RegionsSpecialization{.TYPE = known_type(regions.data_type),
                                                     .BATCH_TYPE = any_type(regions.batch_type),
                                                     .REACHES_CORNERS = regions.reaches_corners,
                                                     .IS_NEAREST = regions.is_nearest,
                                                     .TAKES_MAXIMUM = regions.takes_maximum});
  return dispatch;
}

void add_stage(Dispatch& dispatch, std::uint64_t threads, std::uint64_t work, uint step,
               std::uint64_t base = 0) {
  dispatch.stages.emplace_back(0, word(threads), work);
  dispatch.stages.back().step = step;
  dispatch.stages.back().base = word(base);
}

std::uint64_t outputs_per_thread(DataType type) {
  return bytes_per_thread / size_of(type);
}

// Stages 0 for all rows, so many at a time, and stage 1 for the outputs.
void add_row_stages(Dispatch& dispatch, std::uint64_t elements, DataType type,
                    const Two& rows_and_columns, std::uint64_t final_work) {
  const auto [rows, columns] = rows_and_columns;
  const std::uint64_t step = rows_at_once(columns);
  for (std::uint64_t row = 0; row < rows; row += step)
    add_stage(dispatch, elements, looped(std::min(step, rows - row), columns), 0, row);
  const std::uint64_t per_thread = outputs_per_thread(type);
  add_stage(dispatch, divided_up(elements, per_thread), per_thread * (final_work + 1) + 1, 1);
}

/// A grid's row of outputs in a channel.
std::uint64_t grid_rows(const Regions& regions) {
  return regions.input[1].extent * regions.output[0];
}
std::uint64_t grid_elements(const Regions& regions) {
  return regions.count * grid_rows(regions) * regions.output[1];
}

// Words of scratch: the elements' sums, and two for the largest sample of each output.
std::uint64_t gradient_scratch(const RegionGradientKernel& kernel) {
  const Regions& regions = kernel.regions;
  return 4 * (kernel.output_elements() + (regions.takes_maximum ? 2 * grid_elements(regions) : 0));
}

std::uint64_t boxes_at_once(const Regions& regions) {
  const auto [rows, columns] = most_near(regions);
  return std::max<std::uint64_t>(1, stage_work / looped(rows, columns));
}

}  // namespace

Dispatches dispatches_of(const RegionSampleKernel& kernel) {
  const Regions& regions = kernel.regions;
  const Two samples = most_samples(regions);
  const std::uint64_t step = rows_at_once(samples.x), elements = kernel.output_elements();
  if (samples.x > work_most || samples.y / step >= stages_most ||
      outputs_per_thread(regions.data_type) * (samples.y + samples.x) > work_most)
    return refused(too_many_samples);
  Dispatch dispatch = dispatch_of("region_sample", regions);
  dispatch.scratch_bytes = elements * 4;
  if (dispatch.scratch_bytes > scratch_bytes_most) return refused(too_large);
  RegionsParameters parameters = parameters_of(regions, elements);
  parameters.step = word(step);
  set_parameters(dispatch, parameters);
  dispatch.inputs = {0, 1, 2};
  add_row_stages(dispatch, elements, regions.data_type, samples, samples.y + samples.x + 4);
  return dispatch;
}

Dispatches dispatches_of(const RegionGradientKernel& kernel) {
  const Regions& regions = kernel.regions;
  const Two samples = most_samples(regions);
  if (regions.takes_maximum && (samples.x > work_most || samples.y > work_most / (samples.x + 2)))
    return refused(too_many_samples);
  const std::uint64_t boxes = boxes_at_once(regions), elements = kernel.output_elements();
  if (boxes == 0 || regions.count / boxes >= stages_most) return refused(too_many_samples);
  Dispatch dispatch = dispatch_of("region_gradient", regions);
  dispatch.scratch_bytes = gradient_scratch(kernel);
  if (dispatch.scratch_bytes > scratch_bytes_most) return refused(too_large);
  RegionsParameters parameters = parameters_of(regions, elements);
  parameters.step = word(std::min(boxes, regions.count));
  std::transform(kernel.gradient_strides.begin(), kernel.gradient_strides.end(),
                 parameters.gradient_strides, word);
  set_parameters(dispatch, parameters);
  dispatch.inputs = {0, 1, 2, regions.takes_maximum ? std::size_t{3} : 0};
  if (regions.takes_maximum)
    add_stage(dispatch, grid_elements(regions), looped(samples.y, samples.x), 0);
  const auto [rows, columns] = most_near(regions);
  for (std::uint64_t box = 0; box < regions.count; box += boxes)
    add_stage(dispatch, elements, boxes * looped(rows, columns), 1, box);
  const std::uint64_t per_thread = outputs_per_thread(regions.data_type);
  add_stage(dispatch, divided_up(elements, per_thread), per_thread + 1, 2);
  return dispatch;
}

Dispatches dispatches_of(const RegionBoxGradientKernel& kernel) {
  const Regions& regions = kernel.regions;
  const auto [rows, columns] = most_samples(regions);
  if (columns > work_most || rows > work_most ||
      regions.output[1] * looped(rows, columns) > work_most)
    return refused(too_many_samples);
  if (grid_rows(regions) > work_most / 2)
    return refused("it has too many channels for a GPU kernel");
  const std::uint64_t threads = regions.count * grid_rows(regions);
  if (threads * 16 > scratch_bytes_most) return refused(too_large);
  Dispatch dispatch = dispatch_of("region_box_gradient", regions);
  RegionsParameters parameters = parameters_of(regions, kernel.output_elements());
  std::transform(kernel.gradient_strides.begin(), kernel.gradient_strides.end(),
                 parameters.gradient_strides, word);
  set_parameters(dispatch, parameters);
  dispatch.inputs = {0, 1, 2, 3};
  dispatch.scratch_bytes = threads * 16;
  add_stage(dispatch, threads, regions.output[1] * (looped(rows, columns) + 1), 0);
  const std::uint64_t boxes = outputs_per_thread(regions.data_type) / 4;
  add_stage(dispatch, divided_up(regions.count, boxes), boxes * (grid_rows(regions) + 2), 1);
  return dispatch;
}

Dispatches dispatches_of(const RegionMaximumKernel& kernel) {
  const Two image{kernel.input[2].extent, kernel.input[3].extent};
  const std::uint64_t step = rows_at_once(image.x), elements = kernel.output_elements();
  if (image.x > work_most || image.y / step >= stages_most || elements * 4 > scratch_bytes_most)
    return refused(too_large);
  const Regions regions{.data_type = kernel.data_type,
                        .count = kernel.count,
                        .input = kernel.input,
                        .output = kernel.output,
                        .box_strides = kernel.box_strides,
                        .spatial_scales = {kernel.spatial_scale, kernel.spatial_scale}};
  Dispatch dispatch = dispatch_of("region_maximum", regions);
  RegionsParameters parameters = parameters_of(regions, elements);
  parameters.step = word(step);
  set_parameters(dispatch, parameters);
  dispatch.inputs = {0, 1};
  dispatch.scratch_bytes = elements * 4;
  add_row_stages(dispatch, elements, kernel.data_type, image, 1);
  return dispatch;
}

}  // namespace dmlop::gpu::kernels
