// Operators of ONNX that resample: Resize, Upsample and RoiAlign.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "onnx/rows.hpp"
#include "tensor/tolerance.hpp"

namespace dmlop::onnx {
namespace {

constexpr float largest = std::numeric_limits<float>::max();

/// How the places of one dimension follow from each other.
struct Resampling {
  std::uint64_t from = 1;
  std::uint64_t to = 1;
  float scale = 1;
  float input_offset = 0;
  float output_offset = 0;
};

/// ONNX Runtime multiplies floats: 0.7 is a little less than 7 / 10 there, and 10 times as much is
/// 7 all the same, which it is not in double.
std::uint64_t scaled_size(std::uint64_t size, float scale, std::size_t axis) {
  const float made = std::floor(static_cast<float>(size) * scale);
  if (!(made >= 0 && made < 0x1p31F))
    Mapping::refuse_invalid("its scale of dimension " + std::to_string(axis) + ", which is " +
                                std::to_string(size) + ", is " + shortest_text(double{scale}),
                            "a scale is not negative, and makes at most 2147483647 elements");
  return static_cast<std::uint64_t>(made);
}

std::vector<double> scales_of(Mapping& node) {
  const bool is_upsample = std::string_view(node.row().name) == "Upsample";
  if (is_upsample && node.version() < 9) {
    std::vector<double> list;
    for (const float scale : node.reals("scales")) list.push_back(double{scale});
    return list;
  }
  const std::size_t input = is_upsample || node.version() < 11 ? 1 : 2;
  return node.has(input) ? node.known_reals(input) : std::vector<double>();
}

/// The dimensions that the scales or sizes are for.
std::vector<std::size_t> chosen_axes(const Mapping& node, std::size_t dimensions) {
  auto axes = Mapping::axes_as_written(node.integers("axes"), dimensions);
  if (axes.empty()) {
    for (std::size_t i = 0; i < dimensions; ++i) axes.push_back(i);
  }
  return axes;
}

std::vector<Resampling> resampling_of(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  std::vector<Resampling> made;
  for (const std::uint64_t size : sizes) made.push_back({.from = size, .to = size});
  const std::vector<double> scales = scales_of(node);
  const auto axes = chosen_axes(node, sizes.size());
  const bool has_sizes = node.version() >= 11 && node.has(3);
  if (scales.empty() && !has_sizes)
    throw Refusal{"it has neither scales nor sizes", "one of them says how large the output is",
                  node.version() < 11 ? "give scales as input 1"
                                      : "give scales as input 2, or sizes as input 3",
                  ErrorKind::invalid_input};
  const auto wanted = has_sizes ? node.known_integers(3) : std::vector<std::int64_t>();
  if ((has_sizes && wanted.size() == axes.size()) == false && scales.size() != axes.size())
    Mapping::refuse_invalid("its scales or sizes do not fit its dimensions");
  if (has_sizes && node.text("keep_aspect_ratio_policy", "stretch") != "stretch")
    Mapping::refuse("it keeps the aspect ratio (keep_aspect_ratio_policy)");
  for (std::size_t i = 0; i < axes.size(); ++i) {
    Resampling& one = made[axes[i]];
    if (has_sizes && !wanted.empty()) {
      if (wanted[i] < 1 || wanted[i] > 0x7FFFFFFF)
        Mapping::refuse_invalid(
            "its size of dimension " + std::to_string(axes[i]) + " is " + std::to_string(wanted[i]),
            "a size is from 1 to 2147483647");
      one.to = static_cast<std::uint64_t>(wanted[i]);
      one.scale = static_cast<float>(one.to) / static_cast<float>(one.from);
    } else {
      one.scale = static_cast<float>(scales[i]);
      one.to = scaled_size(one.from, one.scale, axes[i]);
    }
  }
  return made;
}

/// The part of a dimension that is resampled: 0 is its first element, 1 its last.
struct Region {
  float begin = 0;
  float end = 1;
};

std::vector<Region> regions_of(Mapping& node, std::size_t dimensions) {
  const std::vector<double> written = node.known_reals(1);
  const auto axes = chosen_axes(node, dimensions);
  if (written.size() != 2 * axes.size())
    Mapping::refuse_invalid("its roi does not fit its dimensions");
  std::vector<Region> regions(dimensions);
  for (std::size_t i = 0; i < axes.size(); ++i)
    regions[axes[i]] = {static_cast<float>(written[i]),
                        static_cast<float>(written[i + axes.size()])};
  return regions;
}

/// x = (y - OutputPixelOffset) / Scale - InputPixelOffset, for ONNX's formulas. The provider takes
/// the defaults of version 11 for Upsample and older versions of Resize, too.
void place(Mapping& node, std::vector<Resampling>& all) {
  const std::string mode = node.text("coordinate_transformation_mode", "half_pixel");
  const std::vector<Region> regions =
      mode == "tf_crop_and_resize" ? regions_of(node, all.size()) : std::vector<Region>();
  for (std::size_t i = 0; i < all.size(); ++i) {
    Resampling& one = all[i];
    const auto from = static_cast<float>(one.from), to = static_cast<float>(one.to);
    if (mode == "half_pixel" || (mode == "pytorch_half_pixel" && one.from > 1)) {
      one.input_offset = 0.5F;
      one.output_offset = -0.5F;
    } else if (mode == "half_pixel_symmetric") {
      // What the scale makes of the input, before it is cut to a whole size, stays in the middle.
      one.input_offset = 0.5F - from / 2 * (1 - to / (one.scale * from));
      one.output_offset = -0.5F;
    } else if (mode == "pytorch_half_pixel") {
      one.scale = largest;
    } else if (mode == "align_corners") {
      one.scale = one.to <= 1 || one.from <= 1 ? largest : (to - 1) / (from - 1);
    } else if (mode == "tf_half_pixel_for_nn") {
      one.output_offset = -0.5F;
    } else if (mode == "tf_crop_and_resize") {
      if (one.to == 1 && one.from > 1)
        throw Refusal{"its tf_crop_and_resize makes 1 element of the " + std::to_string(one.from) +
                          " of dimension " + std::to_string(i),
                      "the provider's scale would be 0, and DirectML's are greater than 0",
                      "make 2 elements or more, or cut the region out with Slice"};
      const auto [begin, end] = regions[i];
      one.input_offset = -(begin * (from - 1));
      one.scale = one.from > 1 ? (to - 1) / std::max((end - begin) * (from - 1), 1.0F) : 1;
    } else if (mode != "asymmetric") {
      Mapping::refuse("its coordinate_transformation_mode \"" + printable(mode) +
                      "\" is none of the provider's");
    }
  }
}

/// Moves the places so that DirectML's rounding is that of nearest_mode. Returns its direction.
std::string round(Mapping& node, std::vector<Resampling>& all) {
  const std::string mode = node.text("nearest_mode", "round_prefer_floor");
  // INCREASING is the next integer from there on, DECREASING the last one up to there.
  const bool prefers_floor = mode == "round_prefer_floor",
             prefers_ceil = mode == "round_prefer_ceil";
  for (Resampling& one : all)
    one.input_offset += prefers_floor ? 0.5F : prefers_ceil ? -0.5F : 0.0F;
  if (mode == "ceil" || prefers_floor) return "INCREASING";
  if (mode == "floor" || prefers_ceil) return "DECREASING";
  Mapping::refuse("its nearest_mode \"" + printable(mode) + "\" is none of the provider's");
}

/// Every place stays where it is.
bool is_unchanged(const Resampling& one) {
  return one.from == one.to && one.scale == 1 && one.input_offset + one.output_offset == 0;
}

/// Four dimensions, if they can be. Those of one element on both sides are left out first, as the
/// provider does, so that more of the others fit. Of what are still too many, neighbors that stay
/// as they are become one.
std::vector<Resampling> squeezed(std::vector<Resampling> all) {
  const bool has_others = std::any_of(
      all.begin(), all.end(), [](const Resampling& one) { return one.from != 1 || one.to != 1; });
  if (has_others)
    std::erase_if(all, [](const Resampling& one) { return one.from == 1 && one.to == 1; });
  for (std::size_t i = 1; i < all.size() && all.size() > 4;) {
    if (!is_unchanged(all[i - 1]) || !is_unchanged(all[i])) {
      ++i;
      continue;
    }
    all[i - 1].from = all[i - 1].to = all[i - 1].from * all[i].from;
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
  if (all.size() < 4) {
    const Resampling outer{.input_offset = 0.5F, .output_offset = -0.5F};
    all.insert(all.begin(), 4 - all.size(), outer);
  }
  return all;
}

void refuse_unsupported(const Mapping& node, const std::string& mode) {
  if (mode != "nearest" && mode != "linear" && mode != "bilinear")
    throw Refusal{"its mode is \"" + printable(mode) + "\"",
                  "DirectML resamples with nearest or linear",
                  "where a smoother picture is not needed, use linear: the outputs differ"};
  if (node.integer("exclude_outside", 0) != 0)
    throw Refusal{"it leaves out what is beside the input (exclude_outside)",
                  "DirectML repeats the border", "leave out exclude_outside: the outputs differ"};
  if (node.real("extrapolation_value", 0) != 0)
    throw Refusal{"it has an extrapolation_value", "DirectML repeats the border",
                  "leave it out: the outputs differ beside the input"};
}

void map_resize(Mapping& node) {
  const std::string mode = node.text("mode", "nearest");
  refuse_unsupported(node, mode);
  // Of other modes than the node's, of sizes if it has scales, and the roi of tf_crop_and_resize.
  node.ignore({"cubic_coeff_a", "nearest_mode", "keep_aspect_ratio_policy"});
  if (node.version() >= 11) node.ignore_input(1);
  std::vector<Resampling> all = resampling_of(node);
  Sizes output;
  for (const Resampling& one : all) output.push_back(one.to);
  place(node, all);
  all = squeezed(std::move(all));
  const bool is_nearest = mode == "nearest";
  const std::string direction = is_nearest ? round(node, all) : "DECREASING";
  View from = node.view(0);
  View to = node.output(0, node.in(0), output);
  std::vector<float> scales, input_offsets, output_offsets;
  from.sizes.clear();
  to.sizes.clear();
  for (const Resampling& one : all) {
    from.sizes.push_back(one.from);
    to.sizes.push_back(one.to);
    scales.push_back(one.scale);
    input_offsets.push_back(one.input_offset);
    output_offsets.push_back(one.output_offset);
  }
  node.add(DmlOperator("RESAMPLE3")
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .choose("InterpolationMode", is_nearest ? "NEAREST_NEIGHBOR" : "LINEAR")
               .choose("RoundingDirection", direction)
               .set("Scales", scales)
               .set("InputPixelOffsets", input_offsets)
               .set("OutputPixelOffsets", output_offsets)
               .flag("Antialiased", node.integer("antialias", 0) != 0));
}

void map_roi_align(Mapping& node) {
  const Sizes& input = node.in(0).sizes;
  const Sizes& regions = node.in(1).sizes;
  if (input.size() != 4 || regions.size() != 2 || regions[1] != 4)
    Mapping::refuse_invalid("its input must have 4 dimensions, and its rois 4 numbers each");
  const std::int64_t height = node.integer("output_height", 1);
  const std::int64_t width = node.integer("output_width", 1);
  const std::int64_t samples = node.integer("sampling_ratio", 0);
  if (height < 1 || width < 1 || samples < 0 || std::max({height, width, samples}) > 0x7FFF)
    Mapping::refuse_invalid("its output sizes or sampling_ratio are wrong");
  const std::string_view mode = node.choice("mode", {"avg", "max"});
  const bool is_aligned =
      node.version() >= 16 && node.choice("coordinate_transformation_mode",
                                          {"half_pixel", "output_half_pixel"}) == "half_pixel";
  const float scale = node.real("spatial_scale", 1);
  const Sizes output{regions[0], input[1], static_cast<std::uint64_t>(height),
                     static_cast<std::uint64_t>(width)};
  const View from = node.view(0);
  const View rois = padded(node.view(1));
  View batches = node.view(2);
  if (batches.type == DataType::Int64) batches.type = DataType::UInt64;
  const std::uint64_t least = samples == 0 ? 1 : static_cast<std::uint64_t>(samples);
  const std::uint64_t most = samples == 0 ? 0xFFFFFFFFU : static_cast<std::uint64_t>(samples);
  node.add(DmlOperator("ROI_ALIGN1")
               .input("InputTensor", from)
               .input("ROITensor", rois)
               .input("BatchIndicesTensor", padded(batches))
               .output("OutputTensor", node.output(0, from.type, output))
               .choose("ReductionFunction", mode == "max" ? "MAX" : "AVERAGE")
               .choose("InterpolationMode", "LINEAR")
               .set("SpatialScaleX", scale)
               .set("SpatialScaleY", scale)
               .set("InputPixelOffset", is_aligned ? 0.5F : 0.0F)
               .set("OutputPixelOffset", -0.5F)
               .set("OutOfBoundsInputValue", 0.0F)
               .count("MinimumSamplesPerOutput", least)
               .count("MaximumSamplesPerOutput", most)
               .flag("AlignRegionsToCorners", false));
}

constexpr OnnxOperator resize_table[]{
    {"Resize", "", "RESAMPLE3", map_resize},
    {"Upsample", "", "RESAMPLE3", map_resize},
    {"RoiAlign", "", "ROI_ALIGN1", map_roi_align},
};

}  // namespace

std::span<const OnnxOperator> resize_rows() {
  return resize_table;
}

}  // namespace dmlop::onnx
