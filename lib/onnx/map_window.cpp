// Operators of ONNX whose windows slide over the input: convolutions and pooling.
#include <algorithm>
#include <iterator>

#include "base/text.hpp"
#include "onnx/rows.hpp"
#include "onnx/windows.hpp"

namespace dmlop::onnx {
namespace {

std::uint64_t as_count(std::int64_t number, const char* what, std::int64_t least) {
  if (number < least || number > 0x7FFFFFFF)
    Mapping::refuse_invalid(
        "its " + std::string(what) + " has the number " + std::to_string(number),
        "it must be from " + std::to_string(least) + " to 2147483647");
  return static_cast<std::uint64_t>(number);
}

std::vector<std::uint64_t> counts_of(const Mapping& node, const char* attribute,
                                     std::size_t dimensions, std::uint64_t other,
                                     std::int64_t least) {
  if (!node.has_attribute(attribute)) return std::vector<std::uint64_t>(dimensions, other);
  std::vector<std::uint64_t> list;
  for (const std::int64_t number : node.integers(attribute))
    list.push_back(as_count(number, attribute, least));
  if (list.size() != dimensions)
    Mapping::refuse_invalid("its " + std::string(attribute) + " has " +
                            counted(list.size(), "number") + ", must have " +
                            std::to_string(dimensions));
  return list;
}

/// How the padding is chosen. Pads stand with NOTSET only.
std::string auto_pad_of(const Mapping& node) {
  const std::string written = node.text("auto_pad", "");
  if (written.empty()) return "NOTSET";
  for (const char* known : {"NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"}) {
    if (written == known) return written;
  }
  Mapping::refuse_invalid("its auto_pad is \"" + printable(written) + "\"",
                          "auto_pad is NOTSET, VALID, SAME_UPPER or SAME_LOWER");
}

/// ONNX Runtime refuses convolutions that choose their padding twice, and pools without the pads.
void require_one_padding(const Mapping& node) {
  const std::string automatic = auto_pad_of(node);
  const auto pads = node.integers("pads");
  const bool pads_something = std::ranges::any_of(pads, [](std::int64_t pad) { return pad != 0; });
  if (automatic != "NOTSET" && pads_something)
    throw Refusal{"its auto_pad is " + automatic + ", but it has pads " + list_of(pads) + ", too",
                  "pads stand with auto_pad NOTSET only", "leave out auto_pad or pads",
                  ErrorKind::invalid_input};
}

/// How far a window reaches with its dilation.
std::uint64_t reach(const Windows& windows, std::size_t i) {
  return (windows.sizes[i] - 1) * windows.dilations[i] + 1;
}

std::uint64_t output_size(const Windows& windows, std::size_t i, std::uint64_t length,
                          bool rounds_up) {
  const std::uint64_t all = length + windows.start[i] + windows.end[i];
  if (all < reach(windows, i))
    Mapping::refuse_invalid("its window " + list_of(windows.sizes) + " is larger than its input");
  const std::uint64_t steps = all - reach(windows, i);
  std::uint64_t count = steps / windows.strides[i] + 1;
  if (!rounds_up || steps % windows.strides[i] == 0) return count;
  // A window that begins in the padding behind the elements is none.
  if (count * windows.strides[i] < length + windows.start[i]) ++count;
  return count;
}

/// One dimension in front, if there is only one: DirectML has at least two.
void insert_dimension(std::vector<std::uint64_t>& list, std::uint64_t value) {
  if (list.size() == 1) list.insert(list.begin(), value);
}

View with_two_dimensions(View view) {
  if (view.sizes.size() != 3) return view;
  view.sizes.insert(view.sizes.begin() + 2, 1);
  if (!view.strides.empty()) view.strides.insert(view.strides.begin() + 2, 0);
  return view;
}

void set_windows(DmlOperator& operation, Windows windows, const char* window_field,
                 bool has_dilations) {
  for (auto* list : {&windows.sizes, &windows.strides, &windows.dilations})
    insert_dimension(*list, 1);
  for (auto* list : {&windows.start, &windows.end}) insert_dimension(*list, 0);
  if (window_field != nullptr) operation.counts(window_field, windows.sizes);
  operation.counts("Strides", windows.strides)
      .counts("StartPadding", windows.start)
      .counts("EndPadding", windows.end);
  if (has_dilations) operation.counts("Dilations", windows.dilations);
}

/// A zero point or scale: one number, or one for each channel.
View channel_view(Mapping& node, std::size_t input, std::size_t dimensions) {
  View view = node.view(input);
  const std::uint64_t count = element_count(view.sizes).value_or(0);
  view.sizes = Sizes(std::max<std::size_t>(4, dimensions), 1);
  view.sizes[1] = count;
  return view;
}

// Pooling.

/// Those of ONNX Runtime's pooling of quantized tensors.
void add_scales(Mapping& node, DmlOperator& operation, std::size_t dimensions) {
  if (node.integer("channels_last", 0) != 0)
    Mapping::refuse("its channels come last (channels_last)", "DirectML's channels come first");
  const char* const fields[]{"InputScaleTensor", "InputZeroPointTensor", "OutputScaleTensor",
                             "OutputZeroPointTensor"};
  for (std::size_t i = 1; i <= std::size(fields); ++i) {
    const bool is_scale = i % 2 == 1;  // zero points may be left out
    if (is_scale || node.has(i)) operation.input(fields[i - 1], channel_view(node, i, dimensions));
  }
}

void add_pooling(Mapping& node, std::string type, const Windows& windows, const View& from,
                 const View& to, const View* indices) {
  const bool is_dilated = std::any_of(windows.dilations.begin(), windows.dilations.end(),
                                      [](std::uint64_t dilation) { return dilation != 1; });
  const bool is_max = type == "MAX_POOLING";
  if (is_max && (is_dilated || indices != nullptr)) type = "MAX_POOLING2";
  const bool is_quantized = type.starts_with("QUANTIZED");
  if (!is_max && !is_quantized && is_dilated) type += "1";
  DmlOperator operation(type);
  operation.input("InputTensor", with_two_dimensions(from))
      .output("OutputTensor", with_two_dimensions(to));
  if (indices != nullptr) operation.output("OutputIndicesTensor", with_two_dimensions(*indices));
  if (is_quantized) add_scales(node, operation, from.sizes.size());
  set_windows(operation, windows, "WindowSize",
              is_dilated || is_quantized || type == "MAX_POOLING2");
  if (type.find("AVERAGE") != std::string::npos)
    operation.flag("IncludePadding", node.integer("count_include_pad", 0) != 0);
  if (type.starts_with("LP")) operation.count("P", as_count(node.integer("p", 2), "p", 1));
  node.add(operation);
}

void map_pooling(Mapping& node) {
  const Value& value = node.in(0);
  require_windows(value.sizes);
  node.require_attribute("kernel_shape");
  const bool has_indices = node.wants(1);
  if (node.integer("storage_order", 0) != 0 && has_indices)
    Mapping::refuse("its indices count in column order (storage_order)",
                    "DirectML counts them in row order");
  const Windows windows =
      windows_of(node, value.sizes, counts_of(node, "kernel_shape", value.sizes.size() - 2, 0, 1));
  const bool rounds_up = node.integer("ceil_mode", 0) != 0;
  const bool is_quantized = std::string_view(node.row().becomes).starts_with("QUANTIZED");
  Sizes sizes(value.sizes.begin(), value.sizes.begin() + 2);
  for (std::size_t i = 0; i < windows.sizes.size(); ++i) {
    sizes.push_back(output_size(windows, i, value.sizes[i + 2], rounds_up));
    if (is_quantized && sizes.back() != output_size(windows, i, value.sizes[i + 2], false))
      Mapping::refuse("its ceil_mode adds a window that is not full",
                      "all windows of " + std::string(node.row().becomes) + " are full");
  }
  const View from = node.view(0);
  const View to = node.output(0, value, sizes);
  if (!has_indices) return add_pooling(node, node.row().becomes, windows, from, to, nullptr);
  View indices = node.output(1, DataType::Int64, sizes);
  indices.type = DataType::UInt64;
  add_pooling(node, node.row().becomes, windows, from, to, &indices);
}

void map_global_pooling(Mapping& node) {
  const Value& value = node.in(0);
  require_windows(value.sizes);
  Windows windows;
  windows.sizes.assign(value.sizes.begin() + 2, value.sizes.end());
  const std::size_t dimensions = windows.sizes.size();
  windows.strides.assign(dimensions, 1);
  windows.dilations.assign(dimensions, 1);
  windows.start.assign(dimensions, 0);
  windows.end.assign(dimensions, 0);
  Sizes sizes = value.sizes;
  std::fill(sizes.begin() + 2, sizes.end(), 1);
  const View from = node.view(0);
  add_pooling(node, node.row().becomes, windows, from, node.output(0, value, sizes), nullptr);
}

void map_unpooling(Mapping& node) {
  const Value& value = node.in(0);
  if (value.sizes.size() != 4)
    Mapping::refuse("its input has " + counted(value.sizes.size(), "dimension"),
                    "DirectML's MAX_UNPOOLING has 4");
  node.require_attribute("kernel_shape");
  const auto windows = windows_of(node, value.sizes, counts_of(node, "kernel_shape", 2, 0, 1));
  Sizes sizes(value.sizes.begin(), value.sizes.begin() + 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::uint64_t all = (value.sizes[i + 2] - 1) * windows.strides[i] + windows.sizes[i];
    sizes.push_back(all - std::min(all - 1, windows.start[i] + windows.end[i]));
  }
  if (node.has(2)) {
    const auto chosen = node.known_integers(2);
    if (chosen.size() != 4) Mapping::refuse_invalid("its output_shape must have 4 numbers");
    for (std::size_t i = 0; i < 4; ++i) sizes[i] = as_count(chosen[i], "output_shape", 1);
  }
  View indices = node.view(1);
  if (indices.type == DataType::Int64) indices.type = DataType::UInt64;
  const View from = node.view(0);
  node.add(DmlOperator("MAX_UNPOOLING")
               .input("InputTensor", from)
               .input("IndicesTensor", indices)
               .output("OutputTensor", node.output(0, value, sizes)));
}

// Convolution.

/// A bias of one number for each channel.
View bias_view(Mapping& node, std::size_t input, std::size_t dimensions) {
  View bias = node.view(input);
  if (bias.sizes.size() != 1) Mapping::refuse_invalid("its bias must have 1 dimension");
  const std::uint64_t channels = bias.sizes[0];
  bias.sizes = Sizes(std::max<std::size_t>(4, dimensions), 1);
  bias.sizes[1] = channels;
  return bias;
}

std::uint64_t groups_of(const Mapping& node) {
  return as_count(node.integer("group", 1), "group", 1);
}

/// A convolution of the node's inputs, with another one as its bias.
void add_convolution(Mapping& node, const char* direction, View from, const View& filter,
                     std::size_t bias, const View& to, const Convolution& made) {
  from = with_two_dimensions(from);
  DmlOperator operation("CONVOLUTION");
  operation.input("InputTensor", from).input("FilterTensor", with_two_dimensions(filter));
  if (node.has(bias)) operation.input("BiasTensor", bias_view(node, bias, from.sizes.size()));
  operation.output("OutputTensor", with_two_dimensions(to))
      .choose("Mode", "CROSS_CORRELATION")
      .choose("Direction", direction)
      .count("GroupCount", made.groups);
  set_windows(operation, made.windows, nullptr, true);
  operation.counts("OutputPadding", std::vector<std::uint64_t>(from.sizes.size() - 2, 0));
  node.add(operation);
}

void map_convolution(Mapping& node) {
  const Convolution made = convolution_of(node, node.in(0).sizes, node.in(1).sizes);
  const View from = node.view(0), filter = node.view(1);
  add_convolution(node, "FORWARD", from, filter, 2, node.output(0, from.type, made.output), made);
}

/// The channels of the input, of the output and of each filter stand last.
void map_nhwc_convolution(Mapping& node) {
  require_windows(node.in(0).sizes);
  const std::size_t last = node.in(0).sizes.size() - 1;
  require_fitting_filter(node, node.in(0).sizes, last, node.in(1).sizes, last);
  const auto to_second = channels_to_second(last + 1);
  const View from = transposed(node.view(0), to_second);
  const View filter = transposed(node.view(1), to_second);
  const Convolution convolution = convolution_of(node, from.sizes, filter.sizes);
  const View made = node.temporary(from.type, convolution.output);
  add_convolution(node, "FORWARD", from, filter, 2, made, convolution);
  const View reordered = transposed(made, channels_to_last(last + 1));
  // An operator that writes an output of the model writes its elements in their order.
  node.add_identity(reordered, node.output(0, from.type, reordered.sizes));
}

/// The padding that leads to an output of these sizes, or to that of SAME.
void pad_to_output(const Mapping& node, Windows& windows, const Sizes& from, Sizes& to,
                   const std::vector<std::uint64_t>& more) {
  const std::string automatic = auto_pad_of(node);
  const bool is_same = automatic.starts_with("SAME");
  const auto chosen = node.integers("output_shape");
  if (!chosen.empty() && chosen.size() != from.size() && chosen.size() + 2 != from.size())
    Mapping::refuse_invalid("its output_shape has " + counted(chosen.size(), "number"));
  for (std::size_t i = 0; i < windows.sizes.size(); ++i) {
    const std::uint64_t all = (from[i + 2] - 1) * windows.strides[i] + reach(windows, i) + more[i];
    if (chosen.empty() && !is_same) {
      const std::uint64_t padding = windows.start[i] + windows.end[i];
      if (padding >= all) Mapping::refuse_invalid("its pads leave no output");
      to.push_back(all - padding);
      continue;
    }
    const std::uint64_t size =
        chosen.empty()
            ? from[i + 2] * windows.strides[i]
            : as_count(chosen[chosen.size() - windows.sizes.size() + i], "output_shape", 1);
    const std::uint64_t padding = all - std::min(all, size);
    const bool is_more_behind = automatic == "SAME_UPPER";
    windows.start[i] = is_more_behind ? padding / 2 : (padding + 1) / 2;
    windows.end[i] = padding - windows.start[i];
    to.push_back(size);
  }
}

/// The sizes of a filter's window, which kernel_shape may repeat.
Sizes window_of_filter(const Mapping& node, const Sizes& filter) {
  Sizes window(filter.begin() + 2, filter.end());
  if (node.has_attribute("kernel_shape") &&
      counts_of(node, "kernel_shape", window.size(), 0, 1) != window)
    Mapping::refuse_invalid("its kernel_shape is " + list_of(node.integers("kernel_shape")) +
                                ", but its filter has the sizes " + list_of(filter),
                            "kernel_shape is what follows the filter's two first sizes");
  return window;
}

/// Takes the pads from an input, which must be known.
void set_known_pads(const Mapping& node, std::size_t input, Windows& windows) {
  const std::vector<std::int64_t> pads = node.known_integers(input);
  const std::size_t dimensions = windows.sizes.size();
  if (pads.size() != 2 * dimensions)
    Mapping::refuse_invalid("its " + node.title_of_input(input) + " has " +
                            counted(pads.size(), "number") + ", must have " +
                            std::to_string(2 * dimensions));
  for (std::size_t i = 0; i < dimensions; ++i) {
    windows.start[i] = as_count(pads[i], "Pads", 0);
    windows.end[i] = as_count(pads[dimensions + i], "Pads", 0);
  }
}

/// ConvTransposeWithDynamicPads has its pads as its third input.
void map_transposed_convolution(Mapping& node) {
  const Value& value = node.in(0);
  const Value& filter = node.in(1);
  require_windows(value.sizes);
  if (filter.sizes.size() != value.sizes.size() || filter.sizes[0] != value.sizes[1])
    Mapping::refuse_invalid("its filter " + list_of(filter.sizes) + " does not fit its input " +
                            list_of(value.sizes));
  require_one_padding(node);
  Convolution made{.windows = plain_windows_of(node, window_of_filter(node, filter.sizes)),
                   .output = {value.sizes[0]},
                   .groups = groups_of(node)};
  made.output.push_back(filter.sizes[1] * made.groups);
  const bool has_pads_input = std::string_view(node.row().name) == "ConvTransposeWithDynamicPads";
  if (has_pads_input) {
    for (const char* attribute : {"pads", "output_shape"}) {
      if (node.has_attribute(attribute))
        Mapping::refuse_invalid("it has the attribute \"" + std::string(attribute) + "\"",
                                "its padding is an input, Pads");
    }
    if (node.has(2)) set_known_pads(node, 2, made.windows);
  }
  const auto more = counts_of(node, "output_padding", made.windows.sizes.size(), 0, 0);
  pad_to_output(node, made.windows, value.sizes, made.output, more);
  const View from = node.view(0), weights = node.view(1);
  add_convolution(node, "BACKWARD", from, weights, has_pads_input ? 3 : 2,
                  node.output(0, from.type, made.output), made);
}

void require_plane(const Value& value) {
  if (value.sizes.size() > 4)
    throw Refusal{"its input has " + counted(value.sizes.size(), "dimension"),
                  "DirectML's convolutions of integers slide over 1 or 2 dimensions",
                  "quantize the model as Conv between DequantizeLinear and QuantizeLinear"};
}

void map_integer_convolution(Mapping& node) {
  const Convolution made = convolution_of(node, node.in(0).sizes, node.in(1).sizes);
  require_plane(node.in(0));
  const View from = with_two_dimensions(node.view(0));
  const std::size_t dimensions = from.sizes.size();
  DmlOperator operation("CONVOLUTION_INTEGER");
  operation.input("InputTensor", from).input("FilterTensor", with_two_dimensions(node.view(1)));
  if (node.has(2)) operation.input("InputZeroPointTensor", channel_view(node, 2, dimensions));
  if (node.has(3)) operation.input("FilterZeroPointTensor", channel_view(node, 3, dimensions));
  operation
      .output("OutputTensor", with_two_dimensions(node.output(0, DataType::Int32, made.output)))
      .count("GroupCount", made.groups);
  set_windows(operation, made.windows, nullptr, true);
  node.add(operation);
}

void map_quantized_convolution(Mapping& node) {
  const Convolution made = convolution_of(node, node.in(0).sizes, node.in(3).sizes);
  require_plane(node.in(0));
  const View from = with_two_dimensions(node.view(0));
  const std::size_t dimensions = from.sizes.size();
  DmlOperator operation("QUANTIZED_LINEAR_CONVOLUTION");
  operation.input("InputTensor", from)
      .input("InputScaleTensor", channel_view(node, 1, dimensions))
      .input("InputZeroPointTensor", channel_view(node, 2, dimensions))
      .input("FilterTensor", with_two_dimensions(node.view(3)))
      .input("FilterScaleTensor", channel_view(node, 4, dimensions))
      .input("FilterZeroPointTensor", channel_view(node, 5, dimensions))
      .input("OutputScaleTensor", channel_view(node, 6, dimensions))
      .input("OutputZeroPointTensor", channel_view(node, 7, dimensions));
  if (node.has(8)) operation.input("BiasTensor", bias_view(node, 8, dimensions));
  operation.output("OutputTensor", with_two_dimensions(node.output(0, node.in(7), made.output)))
      .count("GroupCount", made.groups);
  set_windows(operation, made.windows, nullptr, true);
  node.add(operation);
}

constexpr OnnxOperator window_table[]{
    {"MaxPool", "", "MAX_POOLING", map_pooling},
    {"AveragePool", "", "AVERAGE_POOLING", map_pooling},
    {"LpPool", "", "LP_POOLING", map_pooling},
    {"GlobalMaxPool", "", "MAX_POOLING", map_global_pooling},
    {"GlobalAveragePool", "", "AVERAGE_POOLING", map_global_pooling},
    {"QLinearAveragePool", microsoft, "QUANTIZED_LINEAR_AVERAGE_POOLING", map_pooling},
    {"QLinearGlobalAveragePool", microsoft, "QUANTIZED_LINEAR_AVERAGE_POOLING", map_global_pooling},
    {"GlobalLpPool", "", "LP_POOLING", map_global_pooling},
    {"MaxUnpool", "", "MAX_UNPOOLING", map_unpooling},
    {"Conv", "", "CONVOLUTION", map_convolution},
    {"ConvTranspose", "", "CONVOLUTION", map_transposed_convolution},
    {"ConvTransposeWithDynamicPads", microsoft, "CONVOLUTION", map_transposed_convolution},
    {"NhwcConv", microsoft, "CONVOLUTION and ELEMENT_WISE_IDENTITY with strides",
     map_nhwc_convolution},
    {"ConvInteger", "", "CONVOLUTION_INTEGER", map_integer_convolution},
    {"QLinearConv", "", "QUANTIZED_LINEAR_CONVOLUTION", map_quantized_convolution},
};

}  // namespace

std::vector<std::size_t> channels_to_second(std::size_t dimensions) {
  std::vector<std::size_t> order{0, dimensions - 1};
  for (std::size_t i = 1; i + 1 < dimensions; ++i) order.push_back(i);
  return order;
}

std::vector<std::size_t> channels_to_last(std::size_t dimensions) {
  std::vector<std::size_t> order{0};
  for (std::size_t i = 2; i < dimensions; ++i) order.push_back(i);
  order.push_back(1);
  return order;
}

Windows plain_windows_of(const Mapping& node, const std::vector<std::uint64_t>& sizes) {
  const std::size_t dimensions = sizes.size();
  const bool has_pads = auto_pad_of(node) == "NOTSET";
  node.ignore({"pads"});  // of pooling with auto_pad, as in ONNX Runtime
  Windows windows{.sizes = sizes,
                  .strides = counts_of(node, "strides", dimensions, 1, 1),
                  .dilations = counts_of(node, "dilations", dimensions, 1, 1),
                  .start = {},
                  .end = {}};
  const auto pads = has_pads ? counts_of(node, "pads", 2 * dimensions, 0, 0)
                             : std::vector<std::uint64_t>(2 * dimensions, 0);
  windows.start.assign(pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(dimensions));
  windows.end.assign(pads.begin() + static_cast<std::ptrdiff_t>(dimensions), pads.end());
  return windows;
}

Windows windows_of(const Mapping& node, const Sizes& input,
                   const std::vector<std::uint64_t>& sizes) {
  Windows windows = plain_windows_of(node, sizes);
  const std::string automatic = auto_pad_of(node);
  if (!automatic.starts_with("SAME")) return windows;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::uint64_t length = input[i + 2];
    const std::uint64_t count = (length + windows.strides[i] - 1) / windows.strides[i];
    const std::uint64_t wanted = (count - 1) * windows.strides[i] + reach(windows, i);
    const std::uint64_t padding = wanted - std::min(wanted, length);
    windows.start[i] = automatic == "SAME_LOWER" ? (padding + 1) / 2 : padding / 2;
    windows.end[i] = padding - windows.start[i];
  }
  return windows;
}

void require_windows(const Sizes& sizes) {
  if (sizes.size() < 3 || sizes.size() > 5)
    Mapping::refuse("its input has " + counted(sizes.size(), "dimension"),
                    "DirectML's windows slide over 1 to 3 dimensions beside batch and channels");
}

void require_fitting_filter(const Mapping& node, const Sizes& input, std::size_t input_channels,
                            const Sizes& filter, std::size_t filter_channels) {
  const std::uint64_t groups = groups_of(node);
  if (filter.size() == input.size() && filter[filter_channels] * groups == input[input_channels])
    return;
  Mapping::refuse_invalid(
      "its filter " + list_of(filter) + " does not fit its input " + list_of(input),
      "both have the same number of dimensions, and dimension " + std::to_string(filter_channels) +
          " of the filter times group, which is " + std::to_string(groups) + ", is dimension " +
          std::to_string(input_channels) + " of the input");
}

Convolution convolution_of(const Mapping& node, const Sizes& from, const Sizes& weights) {
  require_windows(from);
  require_fitting_filter(node, from, 1, weights, 1);
  const std::uint64_t groups = groups_of(node);
  require_one_padding(node);
  Convolution made{.windows = windows_of(node, from, window_of_filter(node, weights)),
                   .output = {from[0], weights[0]},
                   .groups = groups};
  for (std::size_t i = 0; i < made.windows.sizes.size(); ++i)
    made.output.push_back(output_size(made.windows, i, from[i + 2], false));
  return made;
}

std::span<const OnnxOperator> window_rows() {
  return window_table;
}

}  // namespace dmlop::onnx
