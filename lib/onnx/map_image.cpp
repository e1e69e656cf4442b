// Operators on images. ImageScaler and Crop are those that ONNX once had for experiments; models
// for Windows ML begin with them.
#include <algorithm>

#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

const Value& image_of(const Mapping& node) {
  const Value& image = node.in(0);
  if (image.sizes.size() != 4)
    Mapping::refuse_invalid("its input " + list_of(image.sizes) + " must have 4 dimensions",
                            "they are the batch, channels, rows and columns");
  return image;
}

void map_image_scaler(Mapping& node) {
  const Value& image = image_of(node);
  const std::vector<float> bias = node.reals("bias");
  if (bias.size() != image.sizes[1])
    Mapping::refuse_invalid("its bias has " + counted(bias.size(), "number") +
                                ", but its input has " + counted(image.sizes[1], "channel"),
                            "each channel has one");
  const View from = node.view(0);
  node.add(DmlOperator("VALUE_SCALE_2D")
               .input("InputTensor", from)
               .output("OutputTensor", node.output(0, image, image.sizes))
               .set("Scale", node.real("scale", 1))
               .set("Bias", bias));
}

/// Elements of a dimension: all but those of two borders, or so many behind the first border.
std::uint64_t cropped_size(std::uint64_t size, std::int64_t before, std::int64_t behind,
                           std::optional<std::int64_t> kept, const char* what) {
  const auto all = static_cast<std::int64_t>(size);
  const bool fits =
      before >= 0 && before < all &&
      (kept ? *kept > 0 && *kept <= all - before : behind >= 0 && behind < all - before);
  if (!fits)
    Mapping::refuse_invalid(
        "its border or scale leaves no such image: its input has " + counted(size, what),
        "border is left, top, right and bottom; scale is the rows and columns that are kept");
  return static_cast<std::uint64_t>(kept ? *kept : all - before - behind);
}

void map_crop(Mapping& node) {
  const Value& image = image_of(node);
  const auto border = node.integers("border"), scale = node.integers("scale");
  if (border.size() != 4 || (!scale.empty() && scale.size() != 2))
    Mapping::refuse_invalid("it has " + counted(border.size(), "border") + " and " +
                                counted(scale.size(), "number") + " of scale",
                            "there are 4 borders, and 2 numbers of scale or none");
  const auto kept = [&](std::size_t i) {
    return scale.empty() ? std::nullopt : std::optional(scale[i]);
  };
  const Sizes& from = image.sizes;
  const std::uint64_t rows = cropped_size(from[2], border[1], border[3], kept(0), "row");
  const std::uint64_t columns = cropped_size(from[3], border[0], border[2], kept(1), "column");
  const Sizes sizes{from[0], from[1], rows, columns};
  const View input = node.view(0);
  node.add(DmlOperator("SLICE")
               .input("InputTensor", input)
               .output("OutputTensor", node.output(0, image, sizes))
               .counts("Offsets", {0, 0, static_cast<std::uint64_t>(border[1]),
                                   static_cast<std::uint64_t>(border[0])})
               .counts("Sizes", sizes)
               .counts("Strides", {1, 1, 1, 1}));
}

void map_max_roi_pool(Mapping& node) {
  const Value& image = image_of(node);
  const Sizes& regions = node.in(1).sizes;
  if (regions.size() != 2 || regions[1] != 5)
    Mapping::refuse_invalid("its rois are " + list_of(regions),
                            "a region has 5 numbers: the image, x1, y1, x2 and y2");
  node.require_attribute("pooled_shape");
  const std::vector<std::int64_t> cells = node.integers("pooled_shape");
  if (cells.size() != 2 || std::ranges::min(cells) < 1 || std::ranges::max(cells) > 0x7FFF)
    Mapping::refuse_invalid("its pooled_shape is wrong", "it is the rows and columns of the grid");
  const auto rows = static_cast<std::uint32_t>(cells[0]);
  const auto columns = static_cast<std::uint32_t>(cells[1]);
  const View from = node.view(0), rois = padded(node.view(1));
  node.add(DmlOperator("ROI_POOLING")
               .input("InputTensor", from)
               .input("ROITensor", rois)
               .output("OutputTensor",
                       node.output(0, image, {regions[0], image.sizes[1], rows, columns}))
               .set("SpatialScale", node.real("spatial_scale", 1))
               .set("PooledSize", GraphSize2d{columns, rows}));
}

/// One number for each spatial dimension, from 1 on.
std::vector<std::uint64_t> spatial_counts(const std::vector<std::int64_t>& numbers,
                                          std::size_t dimensions, const std::string& what) {
  std::vector<std::uint64_t> counts;
  for (const std::int64_t number : numbers) {
    if (number < 1 || number > 0x7FFFFFFF)
      Mapping::refuse_invalid("its " + what + " has " + std::to_string(number),
                              "its elements are from 1 on");
    counts.push_back(static_cast<std::uint64_t>(number));
  }
  if (counts.size() != dimensions)
    Mapping::refuse_invalid("its " + what + " has " + counted(counts.size(), "element") +
                                ", but its image_shape has " + std::to_string(dimensions),
                            "each spatial dimension has one");
  return counts;
}

/// Those of an attribute that may be left out.
std::vector<std::uint64_t> spatial_counts(Mapping& node, std::string_view name,
                                          std::size_t dimensions) {
  if (!node.has_attribute(name)) return std::vector<std::uint64_t>(dimensions, 1);
  return spatial_counts(node.integers(name), dimensions, std::string(name));
}

/// The pads at the beginning of each dimension, then those at the end.
std::vector<std::uint64_t> pads_of_image(const Mapping& node, std::size_t dimensions) {
  std::vector<std::uint64_t> pads(2 * dimensions, 0);
  if (!node.has_attribute("pads")) return pads;
  const std::vector<std::int64_t> written = node.integers("pads");
  if (written.size() != pads.size())
    Mapping::refuse_invalid("it has " + counted(written.size(), "pad"),
                            "each spatial dimension has one at its beginning and one at its end");
  for (std::size_t i = 0; i < pads.size(); ++i) {
    if (written[i] < 0 || written[i] > 0x7FFFFFFF)
      Mapping::refuse_invalid("its pads have " + std::to_string(written[i]),
                              "a pad is a number from 0 on");
    pads[i] = static_cast<std::uint64_t>(written[i]);
  }
  return pads;
}

void map_column_to_image(Mapping& node) {
  const Value& columns = node.in(0);
  const std::vector<std::int64_t> shape = node.known_integers(1);
  const std::size_t dimensions = shape.size();
  const auto image = spatial_counts(shape, dimensions, "image_shape");
  const auto window = spatial_counts(node.known_integers(2), dimensions, "block_shape");
  const auto pads = pads_of_image(node, dimensions);
  const auto middle = pads.begin() + static_cast<std::ptrdiff_t>(dimensions);
  const std::uint64_t elements = element_count(window).value_or(0);
  if (columns.sizes.size() != 3 || elements == 0 || columns.sizes[1] % elements != 0)
    Mapping::refuse_invalid(
        "its input " + list_of(columns.sizes) + " does not fit its block_shape " + list_of(window),
        "the input is {batch, channels * elements of a block, blocks}");
  Sizes sizes{columns.sizes[0], columns.sizes[1] / elements};
  sizes.insert(sizes.end(), image.begin(), image.end());
  const View from = node.view(0);
  node.add(DmlOperator("FOLD")
               .input("InputTensor", from)
               .output("OutputTensor", node.output(0, columns, sizes))
               .counts("WindowSizes", window)
               .counts("Strides", spatial_counts(node, "strides", dimensions))
               .counts("Dilations", spatial_counts(node, "dilations", dimensions))
               .counts("StartPadding", {pads.begin(), middle})
               .counts("EndPadding", {middle, pads.end()}));
}

constexpr OnnxOperator image_table[]{
    {"ImageScaler", "", "VALUE_SCALE_2D", map_image_scaler},
    {"Crop", "", "SLICE", map_crop},
    {"MaxRoiPool", "", "ROI_POOLING", map_max_roi_pool},
    {"Col2Im", "", "FOLD", map_column_to_image},
};

}  // namespace

std::span<const OnnxOperator> image_rows() {
  return image_table;
}

}  // namespace dmlop::onnx
