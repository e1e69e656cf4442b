// Operators of ONNX Runtime that stand for several others. Its optimizers make them of nodes, and
// here they become such nodes again.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/text.hpp"
#include "onnx/attention.hpp"
#include "onnx/rows.hpp"
#include "onnx/windows.hpp"
#include "tensor/numpy_words.hpp"

namespace dmlop::onnx {
namespace {

/// What a function calls the inputs of the node that it stands for.
constexpr std::array<std::string_view, 9> inputs_inside{
    "input0", "input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"};

/// An input of the node, as its function calls it; "" if it is left out.
std::string_view input_of(const Mapping& node, std::size_t input) {
  return node.has(input) ? inputs_inside.at(input) : "";
}

std::vector<std::string_view> inputs_of(const Mapping& node) {
  if (node.input_count() > inputs_inside.size())
    Mapping::refuse("it has " + counted(node.input_count(), "input"),
                    "at most " + std::to_string(inputs_inside.size()) + " are read");
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < node.input_count(); ++i) names.push_back(input_of(node, i));
  return names;
}

/// The node runs these nodes instead. They are of a version of ONNX's operators.
void set_function(Mapping& node, std::vector<Node> nodes, std::vector<std::string_view> outputs,
                  std::int64_t version = 22) {
  const auto function = std::make_shared<Function>();
  function->inputs.assign(inputs_inside.begin(), inputs_inside.end());
  function->outputs = std::move(outputs);
  function->nodes = std::move(nodes);
  function->operator_sets = {{"", version}, {microsoft, 1}};
  node.function = function;
}

Attribute integer_attribute(std::string_view name, std::int64_t value) {
  return {.name = name, .kind = AttributeKind::integer, .integer = value};
}

/// Those of the node's attributes that a function chooses. They count as read.
template <typename Chooses>
std::vector<Attribute> attributes_of(const Mapping& node, Chooses chooses) {
  std::vector<Attribute> attributes;
  for (const Attribute& attribute : node.node().attributes) {
    if (!chooses(attribute.name)) continue;
    node.ignore({attribute.name});
    attributes.push_back(attribute);
  }
  return attributes;
}

// An operator with an activation behind it.

/// An activation that ONNX Runtime fuses, and the attributes that it has.
struct KnownActivation {
  std::string_view type;
  std::array<std::string_view, 2> attributes = {};
};

constexpr KnownActivation known_activations[]{
    {"Elu", {"alpha"}},
    {"HardSigmoid", {"alpha", "beta"}},
    {"LeakyRelu", {"alpha"}},
    {"ParametricSoftplus", {"alpha", "beta"}},
    {"Relu"},
    {"ScaledTanh", {"alpha", "beta"}},
    {"Selu", {"alpha", "gamma"}},
    {"Sigmoid"},
    {"Softmax", {"axis"}},
    {"Softplus"},
    {"Softsign"},
    {"Tanh"},
    {"ThresholdedRelu", {"alpha"}},
};
/// Of convolutions only.
constexpr KnownActivation clip{"Clip", {"min", "max"}};

const KnownActivation& find_activation(const std::string& type, bool may_clip) {
  if (may_clip && type == clip.type) return clip;
  std::vector<std::string> known;
  for (const KnownActivation& activation : known_activations) {
    if (activation.type == type) return activation;
    known.emplace_back(activation.type);
  }
  if (may_clip) known.emplace(known.begin(), clip.type);
  const std::string nearest = nearest_name(type, known);
  throw Refusal{"its activation is \"" + printable(type) + "\"",
                "activations that are fused are " + join(known),
                nearest.empty() ? "" : "did you mean \"" + nearest + "\"?"};
}

/// The activation whose attributes stand behind a prefix. Nothing if the node has none.
std::optional<Node> prefixed_activation(const Mapping& node, const char* name,
                                        std::string_view prefix) {
  const std::string type = node.text(name, "");
  if (type.empty()) return std::nullopt;
  const KnownActivation& known = find_activation(type, false);
  Node activation{.type = known.type};
  activation.attributes = attributes_of(node, [&](std::string_view attribute) {
    return attribute.starts_with(prefix) &&
           std::ranges::find(known.attributes, attribute.substr(prefix.size())) !=
               known.attributes.end();
  });
  for (Attribute& attribute : activation.attributes) attribute.name.remove_prefix(prefix.size());
  return activation;
}

/// The activation of a convolution, whose numbers stand in one list.
std::optional<Node> listed_activation(const Mapping& node) {
  const std::string type = node.text("activation", "");
  if (type.empty()) return std::nullopt;
  const KnownActivation& known = find_activation(type, true);
  const auto is_named = [](std::string_view name) { return !name.empty(); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(known.attributes, is_named));
  const std::vector<float> numbers = node.reals("activation_params");
  if (numbers.size() != count)
    Mapping::refuse_invalid(
        "its activation_params has " + counted(numbers.size(), "number"),
        type + " has " + std::to_string(count) +
            (count == 0 ? "" : ": " + join(std::span(known.attributes).first(count))));
  Node activation{.type = known.type};
  for (std::size_t i = 0; i < count; ++i)
    activation.attributes.push_back(
        {.name = known.attributes[i], .kind = AttributeKind::real, .real = numbers[i]});
  return activation;
}

/// Adds a node that has the last output as its input, or the first of its inputs.
void add_behind(std::vector<Node>& nodes, Node node) {
  node.inputs.insert(node.inputs.begin(), nodes.back().outputs.front());
  nodes.push_back(std::move(node));
}

/// The attributes of the operator before the activation.
std::vector<Attribute> other_attributes(const Mapping& node) {
  return attributes_of(node, [](std::string_view name) {
    return !name.starts_with("activation") && !name.starts_with("fused_");
  });
}

void map_with_activation(Mapping& node, Node operation, const std::optional<Node>& activation) {
  operation.inputs = inputs_of(node);
  operation.attributes = other_attributes(node);
  operation.outputs = {"before activation"};
  std::vector<Node> nodes{std::move(operation)};
  if (activation) add_behind(nodes, *activation);
  nodes.back().outputs = {"output"};
  set_function(node, std::move(nodes), {"output"});
}

Node transpose_node(const std::vector<std::size_t>& order) {
  return {.type = "Transpose",
          .attributes = {{.name = "perm",
                          .kind = AttributeKind::integers,
                          .integers = {order.begin(), order.end()}}}};
}

/// A convolution, an input that is added to it, and an activation. In NhwcFusedConv, the channels
/// of all images stand last, but not those of the filter.
void map_convolution_with_activation(Mapping& node) {
  const bool is_nhwc = std::string_view(node.row().name).starts_with("Nhwc");
  require_windows(node.in(0).sizes);
  const std::size_t dimensions = node.in(0).sizes.size();
  const auto to_second = channels_to_second(dimensions), to_last = channels_to_last(dimensions);
  const auto reordered = [&](const Sizes& sizes, const std::vector<std::size_t>& order) {
    return is_nhwc ? in_order(sizes, order) : sizes;
  };
  require_fitting_filter(node, node.in(0).sizes, is_nhwc ? dimensions - 1 : 1, node.in(1).sizes, 1);
  const Convolution convolution =
      convolution_of(node, reordered(node.in(0).sizes, to_second), node.in(1).sizes);
  if (node.has(3))
    Mapping::require_sizes("Z", node.in(3).sizes, reordered(convolution.output, to_last),
                           "it is added to what the convolution makes");
  std::vector<Node> nodes;
  const auto with_channels_second = [&](std::size_t input, std::string_view made) {
    if (!is_nhwc) return input_of(node, input);
    nodes.push_back(transpose_node(to_second));
    nodes.back().inputs = {input_of(node, input)};
    nodes.back().outputs = {made};
    return made;
  };
  const std::string_view image = with_channels_second(0, "image");
  const std::string_view added = node.has(3) ? with_channels_second(3, "added") : "";
  nodes.push_back({.type = "Conv",
                   .inputs = {image, input_of(node, 1), input_of(node, 2)},
                   .outputs = {"convolution"},
                   .attributes = other_attributes(node)});
  if (node.has(3)) add_behind(nodes, {.type = "Add", .inputs = {added}, .outputs = {"sum"}});
  const std::optional<Node> activation = listed_activation(node);
  if (activation) {
    add_behind(nodes, *activation);
    nodes.back().outputs = {"activation"};
  }
  if (is_nhwc) add_behind(nodes, transpose_node(to_last));
  nodes.back().outputs = {"output"};
  // Before version 11, the numbers of Clip are attributes.
  const bool clips = activation && activation->type == clip.type;
  set_function(node, std::move(nodes), {"output"}, clips ? 10 : 22);
}

void map_gemm_with_activation(Mapping& node) {
  map_with_activation(node, {.type = "Gemm"},
                      prefixed_activation(node, "activation", "activation_"));
}

void map_product_with_activation(Mapping& node) {
  node.require_attribute("activation");
  map_with_activation(node, {.type = "FusedMatMul", .domain = microsoft},
                      prefixed_activation(node, "activation", "activation_"));
}

/// What the provider itself makes of the operator whose name stands behind "DmlFused".
void map_fused_by_provider(Mapping& node) {
  node.ignore({"fused_activation_since_version"});
  const std::string domain = node.text("fused_activation_domain", "");
  if (!domain.empty() && domain != "ai.onnx")
    Mapping::refuse("its fused_activation_domain is \"" + printable(domain) + "\"",
                    "activations that are fused are ONNX's own");
  node.require_attribute("fused_activation");
  std::string_view type = node.row().name;
  type.remove_prefix(std::string_view("DmlFused").size());
  map_with_activation(node, {.type = type},
                      prefixed_activation(node, "fused_activation", "fused_"));
}

// Others.

/// Attention of com.microsoft whose projection is quantized.
void map_quantized_attention(Mapping& node) {
  require_plain_attention(node, 8);
  for (const std::size_t input : {0U, 1U}) {
    const DataType type = node.in(input).type;
    if (type != DataType::UInt8 && type != DataType::Int8)
      Mapping::refuse_invalid(
          "its " + node.title_of_input(input) + " is " + std::string(name_of(type)),
          "input and weight are UINT8 or INT8");
  }
  if (element_count(node.in(3).sizes) != 1)
    Mapping::refuse_invalid(
        "its " + node.title_of_input(3) + " has the sizes " + list_of(node.in(3).sizes),
        "there is one scale for the whole input");
  const Sizes& sizes = node.in(0).sizes;
  const Sizes& weights = node.in(1).sizes;
  if (sizes.size() != 3 || weights.size() != 2 || weights[0] != sizes[2] || weights[1] % 3 != 0)
    Mapping::refuse_invalid(
        "its input and weight have the sizes " + list_of(sizes) + " and " + list_of(weights),
        "they are {batch, rows, size} and {size, three equal parts}");
  const auto input = [&](std::size_t index) { return input_of(node, index); };
  set_function(node,
               {{.type = "MatMulIntegerToFloat",
                 .domain = microsoft,
                 .inputs = {input(0), input(1), input(3), input(4), input(6), input(7), input(2)},
                 .outputs = {"product"}},
                {.type = "Split",
                 .inputs = {"product"},
                 .outputs = {"query", "key", "value"},
                 .attributes = {integer_attribute("axis", 2), integer_attribute("num_outputs", 3)}},
                {.type = "MultiHeadAttention",
                 .domain = microsoft,
                 .inputs = {"query", "key", "value", "", input(5)},
                 .outputs = {"output"},
                 .attributes = attributes_of(node,
                                             [](std::string_view name) {
                                               return name == "num_heads" || name == "scale" ||
                                                      name == "mask_filter_value";
                                             })}},
               {"output"});
}

/// Adds a node that gives a tensor dimensions of 1.
std::string_view unsqueezed(std::vector<Node>& nodes, std::string_view name, std::string_view axes,
                            std::string_view made, std::vector<std::int64_t> places) {
  nodes.push_back({.type = "Constant",
                   .outputs = {axes},
                   .attributes = {{.name = "value_ints",
                                   .kind = AttributeKind::integers,
                                   .integers = std::move(places)}}});
  nodes.push_back({.type = "Unsqueeze", .inputs = {name, axes}, .outputs = {made}});
  return made;
}

/// GroupNorm of a sum: x + skip + bias. The skip may have one number for each channel of an image.
void map_skip_group_norm(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  const bool is_last = node.integer("channels_last", 1) != 0;
  if (sizes.size() != 4)
    Mapping::refuse_invalid("its input has " + counted(sizes.size(), "dimension"),
                            "it is an image of 4");
  const std::uint64_t channels = sizes[is_last ? 3 : 1];
  const Sizes flat{sizes[0], channels};
  const Sizes pixel = is_last ? Sizes{sizes[0], 1, 1, channels} : Sizes{sizes[0], channels, 1, 1};
  const Sizes& skip = node.in(3).sizes;
  if (skip != sizes && skip != flat && skip != pixel)
    Mapping::refuse_invalid(
        "its skip has the sizes " + list_of(skip),
        "it is " + list_of(sizes) + ", " + list_of(pixel) + " or " + list_of(flat));
  std::vector<Node> nodes;
  std::string_view added = input_of(node, 3);
  if (skip == flat)
    added = unsqueezed(nodes, added, "axes of skip", "skip",
                       is_last ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{2, 3});
  nodes.push_back({.type = "Add", .inputs = {input_of(node, 0), added}, .outputs = {"sum"}});
  if (node.has(4)) {
    Mapping::require_sizes("bias", node.in(4).sizes, {channels}, "there is one for each channel");
    nodes.back().outputs = {"sum without bias"};
    std::string_view bias = input_of(node, 4);
    if (!is_last) bias = unsqueezed(nodes, bias, "axes of bias", "bias", {1, 2});
    nodes.push_back({.type = "Add", .inputs = {"sum without bias", bias}, .outputs = {"sum"}});
  }
  nodes.push_back({.type = "GroupNorm",
                   .domain = microsoft,
                   .inputs = {"sum", input_of(node, 1), input_of(node, 2)},
                   .outputs = {"output"},
                   .attributes = attributes_of(node, [](std::string_view) { return true; })});
  set_function(node, std::move(nodes), {"output", "sum"});
}

constexpr const char* of_provider = "com.microsoft.dml";

constexpr OnnxOperator fused_table[]{
    {"FusedConv", microsoft, "CONVOLUTION, ELEMENT_WISE_ADD, and an activation",
     map_convolution_with_activation},
    {"NhwcFusedConv", microsoft,
     "ELEMENT_WISE_IDENTITY with strides, CONVOLUTION, ELEMENT_WISE_ADD, and an activation",
     map_convolution_with_activation},
    {"FusedGemm", microsoft, "GEMM with an activation", map_gemm_with_activation},
    {"FusedMatMulActivation", microsoft, "GEMM with an activation", map_product_with_activation},
    {"DmlFusedAdd", of_provider, "ELEMENT_WISE_ADD1 with ACTIVATION_RELU", map_fused_by_provider},
    {"DmlFusedBatchNormalization", of_provider, "BATCH_NORMALIZATION with an activation",
     map_fused_by_provider},
    {"DmlFusedConv", of_provider, "CONVOLUTION with an activation", map_fused_by_provider},
    {"DmlFusedConvTranspose", of_provider, "CONVOLUTION with an activation", map_fused_by_provider},
    {"DmlFusedGemm", of_provider, "GEMM with an activation", map_fused_by_provider},
    {"DmlFusedInstanceNormalization", of_provider,
     "MEAN_VARIANCE_NORMALIZATION1 with an activation", map_fused_by_provider},
    {"DmlFusedMatMul", of_provider, "GEMM with an activation", map_fused_by_provider},
    {"DmlFusedMeanVarianceNormalization", of_provider,
     "MEAN_VARIANCE_NORMALIZATION1 with an activation", map_fused_by_provider},
    {"DmlFusedSum", of_provider, "ELEMENT_WISE_ADD1 with ACTIVATION_RELU", map_fused_by_provider},
    {"QAttention", microsoft, "MATRIX_MULTIPLY_INTEGER_TO_FLOAT, SPLIT, MULTIHEAD_ATTENTION",
     map_quantized_attention},
    {"SkipGroupNorm", microsoft,
     "ELEMENT_WISE_ADD, MEAN_VARIANCE_NORMALIZATION1, ACTIVATION_SIGMOID", map_skip_group_norm},
};

}  // namespace

std::span<const OnnxOperator> fused_rows() {
  return fused_table;
}

}  // namespace dmlop::onnx
