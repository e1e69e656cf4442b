// Operators of ONNX that move elements: sizes, order, parts and edges.
#include <algorithm>
#include <numeric>

#include "base/text.hpp"
#include "onnx/rows.hpp"
#include "tensor/element.hpp"

namespace dmlop::onnx {
namespace {

/// The same elements with other sizes.
void reshape(Mapping& node, const Sizes& sizes) {
  const Value& value = node.in(0);
  if (element_count(sizes) != element_count(value.sizes))
    Mapping::refuse_invalid("its output " + list_of(sizes) + " has other elements than its input " +
                            list_of(value.sizes));
  if (value.constant) {
    TensorData same = *value.constant;
    same.sizes = sizes;
    return node.constant_output(0, std::move(same));
  }
  const View from = node.view(0);
  node.add_identity(from, node.output(0, value, sizes));
}

void map_reshape(Mapping& node) {
  const std::vector<std::int64_t> shape =
      node.has(1) ? node.known_integers(1) : node.integers("shape");
  const Sizes& from = node.in(0).sizes;
  const bool keeps_zero = node.integer("allowzero", 0) != 0;
  Sizes sizes;
  std::optional<std::size_t> unknown;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1 && !unknown) {
      unknown = i;
      sizes.push_back(1);
    } else if (shape[i] == 0 && !keeps_zero) {
      if (i >= from.size())
        Mapping::refuse_invalid("its shape keeps a dimension that is not there");
      sizes.push_back(from[i]);
    } else if (shape[i] < 0) {
      Mapping::refuse_invalid("its shape is " + list_of(shape));
    } else {
      sizes.push_back(static_cast<std::uint64_t>(shape[i]));
    }
  }
  if (unknown) {
    const std::uint64_t others = element_count(sizes).value_or(0);
    const std::uint64_t all = element_count(from).value_or(0);
    if (others == 0 || all % others != 0)
      Mapping::refuse_invalid("its shape " + list_of(shape) + " does not fit its input " +
                              list_of(from));
    sizes[*unknown] = all / others;
  }
  reshape(node, sizes);
}

void map_flatten(Mapping& node) {
  const Sizes& from = node.in(0).sizes;
  const std::size_t axis = Mapping::axis_of(node.integer("axis", 1), from.size(), true);
  const auto middle = from.begin() + static_cast<std::ptrdiff_t>(axis);
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::uint64_t{1}, std::multiplies<>());
  };
  reshape(node, {product(from.begin(), middle), product(middle, from.end())});
}

std::vector<std::int64_t> axes_given(Mapping& node, std::size_t input, const char* attribute) {
  return node.has(input) ? node.known_integers(input) : node.integers(attribute);
}

void map_squeeze(Mapping& node) {
  const Sizes& from = node.in(0).sizes;
  const auto written = axes_given(node, 1, "axes");
  const auto axes = Mapping::axes_of(written, from.size());
  Sizes sizes;
  for (std::size_t i = 0; i < from.size(); ++i) {
    const bool is_named = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (is_named && from[i] != 1)
      Mapping::refuse_invalid("it removes dimension " + std::to_string(i) + ", which is " +
                              std::to_string(from[i]));
    if (!(is_named || (written.empty() && from[i] == 1))) sizes.push_back(from[i]);
  }
  reshape(node, sizes);
}

void map_unsqueeze(Mapping& node) {
  const Sizes& from = node.in(0).sizes;
  const auto written = axes_given(node, 1, "axes");
  const std::size_t count = from.size() + written.size();
  const auto axes = Mapping::axes_as_written(written, count);
  Sizes sizes;
  for (std::size_t i = 0, next = 0; i < count; ++i)
    sizes.push_back(std::find(axes.begin(), axes.end(), i) != axes.end() ? 1 : from[next++]);
  reshape(node, sizes);
}

void map_transpose(Mapping& node) {
  const Value& value = node.in(0);
  std::vector<std::size_t> order;
  if (node.has_attribute("perm")) {
    for (const std::int64_t axis : node.integers("perm"))
      order.push_back(Mapping::axis_of(axis, value.sizes.size()));
  } else {
    for (std::size_t i = value.sizes.size(); i-- > 0;) order.push_back(i);
  }
  std::vector<std::size_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != i) Mapping::refuse_invalid("its perm is not an order of the dimensions");
  }
  if (order.size() != value.sizes.size())
    Mapping::refuse_invalid("its perm has " + counted(order.size(), "dimension") +
                            ", but its input has " + std::to_string(value.sizes.size()));
  if (order.empty()) return node.add_identity(node.view(0), node.output(0, value, {}));
  const View from = transposed(node.view(0), order);
  const View to = node.output(0, value, from.sizes);
  node.add(
      DmlOperator("ELEMENT_WISE_IDENTITY").input("InputTensor", from).output("OutputTensor", to));
}

void map_expand(Mapping& node) {
  const Value& value = node.in(0);
  Sizes wanted;
  for (const std::int64_t size : node.known_integers(1)) {
    if (size < 0) Mapping::refuse_invalid("its shape has the size " + std::to_string(size));
    wanted.push_back(static_cast<std::uint64_t>(size));
  }
  const Sizes sizes = broadcast_sizes({value.sizes, wanted});
  const View to = padded(node.output(0, value, sizes));
  node.add(DmlOperator("ELEMENT_WISE_IDENTITY")
               .input("InputTensor", padded(broadcast(node.view(0), sizes)))
               .output("OutputTensor", to));
}

void map_concat(Mapping& node) {
  const Value& first = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.required_integer("axis"), first.sizes.size());
  std::vector<Sizes> all;
  for (std::size_t i = 0; i < node.input_count(); ++i) all.push_back(node.in(i).sizes);
  const Sizes sizes = joined_sizes(all, axis);
  std::vector<View> views;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i][axis] > 0) views.push_back(padded(node.view(i)));
  }
  const View to = padded(node.output(0, first, sizes));
  node.add(DmlOperator("JOIN")
               .inputs("InputTensors", views)
               .output("OutputTensor", to)
               .count("Axis", padded_axis(axis, sizes.size())));
}

std::vector<std::uint64_t> parts_of(Mapping& node, std::uint64_t length) {
  const std::vector<std::int64_t> written =
      node.has(1) ? node.known_integers(1) : node.integers("split");
  const std::uint64_t count = node.output_count();
  const bool may_be_uneven = node.has_attribute("num_outputs");
  if (may_be_uneven && !written.empty())
    Mapping::refuse_invalid("it has split and num_outputs", "one of them says the parts");
  if (may_be_uneven && node.required_count("num_outputs") != count)
    Mapping::refuse_invalid("its num_outputs is " + std::to_string(node.integer("num_outputs", 0)) +
                            ", but it has " + counted(count, "output"));
  std::vector<std::uint64_t> parts;
  for (const std::int64_t part : written) {
    if (part < 0) Mapping::refuse_invalid("its split has the size " + std::to_string(part));
    parts.push_back(static_cast<std::uint64_t>(part));
  }
  if (!parts.empty()) {
    if (parts.size() != node.output_count() ||
        std::accumulate(parts.begin(), parts.end(), std::uint64_t{0}) != length)
      Mapping::refuse_invalid("its split " + list_of(parts) + " does not fit a dimension of " +
                              std::to_string(length) + " and " +
                              counted(node.output_count(), "output"));
    return parts;
  }
  if (count == 0) Mapping::refuse_invalid("it has no output");
  if (length % count != 0 && !may_be_uneven)
    Mapping::refuse_invalid("a dimension of " + std::to_string(length) + " has no " +
                            std::to_string(count) + " equal parts");
  const std::uint64_t part = (length + count - 1) / count;
  for (std::uint64_t used = 0, i = 0; i < count; ++i, used += parts.back())
    parts.push_back(std::min(part, length - used));
  return parts;
}

void map_split(Mapping& node) {
  const Value& value = node.in(0);
  const std::size_t axis = Mapping::axis_of(node.integer("axis", 0), value.sizes.size());
  const std::vector<std::uint64_t> parts = parts_of(node, value.sizes[axis]);
  const View from = padded(node.view(0));
  std::vector<View> views;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Sizes sizes = value.sizes;
    sizes[axis] = parts[i];
    const View to = node.output(i, value, sizes);
    if (parts[i] > 0) views.push_back(padded(to));
  }
  node.add(DmlOperator("SPLIT")
               .input("InputTensor", from)
               .outputs("OutputTensors", views)
               .count("Axis", padded_axis(axis, value.sizes.size())));
}

/// Where a slice is along one dimension.
struct Window {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::int32_t stride = 1;
  std::uint64_t count = 0;
};

Window window_of(std::int64_t start, std::int64_t end, std::int64_t step, std::uint64_t length) {
  const auto all = static_cast<std::int64_t>(length);
  if (step == 0) Mapping::refuse_invalid("its step is 0");
  if (length == 0) return {};
  step = std::clamp<std::int64_t>(step, -0x7FFFFFFF, 0x7FFFFFFF);
  const auto place = [&](std::int64_t written, std::int64_t low, std::int64_t high) {
    if (written < 0) written = written < -all ? -1 - all + all : written + all;
    return std::clamp(written, low, high);
  };
  Window window{.stride = static_cast<std::int32_t>(step)};
  if (step > 0) {
    const std::int64_t first = place(start < -all ? -all : start, 0, all);
    const std::int64_t last = place(end < -all ? -all : end, 0, all);
    window.offset = static_cast<std::uint64_t>(first);
    window.size = static_cast<std::uint64_t>(std::max<std::int64_t>(0, last - first));
  } else {
    // Only the end may lie before the first element; ONNX moves the start to it.
    const std::int64_t first = place(start, 0, all - 1);
    const std::int64_t last = place(end, -1, all - 1);
    window.offset = static_cast<std::uint64_t>(last + 1);
    window.size = static_cast<std::uint64_t>(std::max<std::int64_t>(0, first - last));
  }
  const auto width = static_cast<std::uint64_t>(step < 0 ? -step : step);
  window.count = (window.size + width - 1) / width;
  return window;
}

void map_slice(Mapping& node) {
  const Value& value = node.in(0);
  const bool has_inputs = node.version() >= 10;
  const auto starts = has_inputs ? node.known_integers(1) : node.integers("starts");
  const auto ends = has_inputs ? node.known_integers(2) : node.integers("ends");
  std::vector<std::int64_t> axes =
      has_inputs ? (node.has(3) ? node.known_integers(3) : std::vector<std::int64_t>())
                 : node.integers("axes");
  std::vector<std::int64_t> steps(starts.size(), 1);
  if (has_inputs && node.has(4)) steps = node.known_integers(4);
  if (axes.empty()) {
    for (std::size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    Mapping::refuse_invalid("its starts, ends, axes and steps have different lengths");
  std::vector<std::uint64_t> offsets(value.sizes.size(), 0), windows = value.sizes;
  std::vector<std::int32_t> strides(value.sizes.size(), 1);
  Sizes sizes = value.sizes;
  const std::vector<std::size_t> places = Mapping::axes_as_written(axes, sizes.size());
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::size_t axis = places[i];
    const Window window = window_of(starts[i], ends[i], steps[i], value.sizes[axis]);
    offsets[axis] = window.offset;
    windows[axis] = window.size;
    strides[axis] = window.stride;
    sizes[axis] = window.count;
  }
  const View from = node.view(0);
  const View to = node.output(0, value, sizes);
  node.add(DmlOperator("SLICE1")
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .counts("InputWindowOffsets", offsets)
               .counts("InputWindowSizes", windows)
               .set("InputWindowStrides", strides));
}

void map_tile(Mapping& node) {
  const Value& value = node.in(0);
  const auto written = node.known_integers(1);
  if (written.size() != value.sizes.size())
    Mapping::refuse_invalid("it has " + counted(written.size(), "repeat") + ", but its input has " +
                            counted(value.sizes.size(), "dimension"));
  Sizes sizes = value.sizes;
  std::vector<std::uint64_t> repeats;
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] < 0 || written[i] > 0x7FFFFFFF) Mapping::refuse_invalid("its repeats are wrong");
    repeats.push_back(static_cast<std::uint64_t>(written[i]));
    sizes[i] *= repeats[i];
  }
  const View from = padded(node.view(0));
  const View to = padded(node.output(0, value, sizes));
  repeats.insert(repeats.begin(), to.sizes.size() - repeats.size(), 1);
  node.add(DmlOperator("TILE")
               .input("InputTensor", from)
               .output("OutputTensor", to)
               .counts("Repeats", repeats));
}

/// The pads of each dimension: those before the elements, and those behind.
std::pair<Sizes, Sizes> pads_of(Mapping& node, std::size_t dimensions) {
  const std::vector<std::int64_t> written =
      node.version() >= 11 ? node.known_integers(1) : node.integers("pads");
  std::vector<std::size_t> axes(dimensions);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  if (node.has(3)) axes = Mapping::axes_as_written(node.known_integers(3), dimensions);
  if (written.size() != 2 * axes.size())
    Mapping::refuse_invalid("it has " + counted(written.size(), "pad") + ", must have " +
                            std::to_string(2 * axes.size()));
  Sizes start(dimensions, 0), end(dimensions, 0);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t before = written[i], behind = written[i + axes.size()];
    if (before < 0 || behind < 0)
      throw Refusal{"it has negative pads", "DirectML pads only",
                    "take elements away with Slice, and pad by what is left"};
    start[axes[i]] = static_cast<std::uint64_t>(before);
    end[axes[i]] = static_cast<std::uint64_t>(behind);
  }
  return {start, end};
}

void map_pad(Mapping& node) {
  const Value& value = node.in(0);
  const std::string_view mode = node.choice("mode", {"constant", "edge", "reflect", "wrap"});
  if (mode == "wrap" && node.version() < 19)
    throw Refusal{"its mode is \"wrap\", which version " + std::to_string(node.version()) +
                      " of ONNX's operators does not have",
                  "Pad has it from version 19 on", "declare version 19", ErrorKind::invalid_input};
  auto [start, end] = pads_of(node, value.sizes.size());
  Sizes sizes = value.sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] += start[i] + end[i];
  const View from = padded(node.view(0));
  const View to = padded(node.output(0, value, sizes));
  const std::size_t more = to.sizes.size() - start.size();
  start.insert(start.begin(), more, 0);
  end.insert(end.begin(), more, 0);
  DmlOperator operation("PADDING1");
  operation.input("InputTensor", from)
      .output("OutputTensor", to)
      .choose("PaddingMode", mode == "constant" ? "CONSTANT"
                             : mode == "edge"   ? "EDGE"
                             : mode == "wrap"   ? "WRAP"
                                                : "REFLECTION")
      .counts("StartPadding", start)
      .counts("EndPadding", end);
  if (node.version() >= 11 && node.has(2)) {
    const TensorData& data = node.known(2);
    if (data.count() != 1 || data.type != value.type)
      Mapping::refuse_invalid("its value must be one element of the input's type");
    operation.scalar_bytes("PaddingValueDataType", "PaddingValue", value.type, data.bytes.data());
  } else {
    operation.scalar("PaddingValueDataType", "PaddingValue", value.type,
                     double{node.real("value", 0)});
  }
  node.add(operation);
}

void map_depth_to_space(Mapping& node) {
  const Value& value = node.in(0);
  if (value.sizes.size() != 4) Mapping::refuse_invalid("its input must have 4 dimensions");
  const std::int64_t block = node.required_integer("blocksize");
  const Sizes& from = value.sizes;
  if (block < 1 || block > 0x7FFF || from[1] % static_cast<std::uint64_t>(block * block) != 0)
    Mapping::refuse_invalid("its blocksize does not fit " + counted(from[1], "channel"));
  const auto size = static_cast<std::uint64_t>(block);
  const View view = node.view(0);
  const View to =
      node.output(0, value, {from[0], from[1] / (size * size), from[2] * size, from[3] * size});
  node.add(DmlOperator("DEPTH_TO_SPACE1")
               .input("InputTensor", view)
               .output("OutputTensor", to)
               .count("BlockSize", size)
               .choose("Order", node.choice("mode", {"DCR", "CRD"}) == "CRD" ? "COLUMN_ROW_DEPTH"
                                                                             : "DEPTH_COLUMN_ROW"));
}

void map_space_to_depth(Mapping& node) {
  const Value& value = node.in(0);
  if (value.sizes.size() != 4) Mapping::refuse_invalid("its input must have 4 dimensions");
  const std::int64_t block = node.required_integer("blocksize");
  const Sizes& from = value.sizes;
  const auto size = static_cast<std::uint64_t>(block);
  if (block < 1 || block > 0x7FFF || from[2] % size != 0 || from[3] % size != 0)
    Mapping::refuse_invalid("its blocksize does not fit its input");
  const View view = node.view(0);
  const View to =
      node.output(0, value, {from[0], from[1] * size * size, from[2] / size, from[3] / size});
  node.add(DmlOperator("SPACE_TO_DEPTH")
               .input("InputTensor", view)
               .output("OutputTensor", to)
               .count("BlockSize", size));
}

constexpr OnnxOperator shape_table[]{
    {"Reshape", "", "ELEMENT_WISE_IDENTITY", map_reshape},
    {"Flatten", "", "ELEMENT_WISE_IDENTITY", map_flatten},
    {"Squeeze", "", "ELEMENT_WISE_IDENTITY", map_squeeze},
    {"Unsqueeze", "", "ELEMENT_WISE_IDENTITY", map_unsqueeze},
    {"Transpose", "", "ELEMENT_WISE_IDENTITY with strides", map_transpose},
    {"Expand", "", "ELEMENT_WISE_IDENTITY with strides", map_expand},
    {"Concat", "", "JOIN", map_concat},
    {"Split", "", "SPLIT", map_split},
    {"Slice", "", "SLICE1", map_slice},
    {"Tile", "", "TILE", map_tile},
    {"Pad", "", "PADDING1", map_pad},
    {"DepthToSpace", "", "DEPTH_TO_SPACE1", map_depth_to_space},
    {"SpaceToDepth", "", "SPACE_TO_DEPTH", map_space_to_depth},
};

}  // namespace

std::span<const OnnxOperator> shape_rows() {
  return shape_table;
}

}  // namespace dmlop::onnx
