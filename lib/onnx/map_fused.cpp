// Operators of ONNX Runtime that stand for several others. Its optimizers make them of nodes, and
// here they become such nodes again.
#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.hpp"
#include "onnx/attention.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

/// What a function calls the inputs of the node that it stands for.
constexpr std::array<std::string_view, 9> inputs_inside{
    "input0", "input1", "input2", "input3", "input4", "input5", "input6", "input7", "input8"};

/// An input of the node, as its function calls it; "" if it is left out.
std::string_view input_of(const Mapping& node, std::size_t input) {
  return node.has(input) ? inputs_inside[input] : "";
}

std::vector<std::string_view> inputs_of(const Mapping& node, std::size_t count) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < std::min(count, node.input_count()); ++i)
    names.push_back(input_of(node, i));
  return names;
}

/// The node runs these nodes instead. They are of a version of ONNX's operators.
void set_function(Mapping& node, std::vector<Node> nodes, std::vector<std::string_view> outputs,
                  std::int64_t version = 22) {
  for (Node& one : nodes) one.name = one.type;
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

struct FusedActivation {
  std::string type;  // "": none
  std::vector<Attribute> attributes;
};

/// An activation whose attributes begin with a prefix.
FusedActivation activation_behind(const Mapping& node, const char* name, std::string_view prefix) {
  FusedActivation activation{node.text(name, ""), {}};
  activation.attributes = attributes_of(
      node, [&](std::string_view attribute) { return attribute.starts_with(prefix); });
  for (Attribute& attribute : activation.attributes) attribute.name.remove_prefix(prefix.size());
  return activation;
}

/// An activation whose numbers stand in one list.
FusedActivation listed_activation(const Mapping& node) {
  FusedActivation activation{node.text("activation", ""), {}};
  std::vector<std::string_view> names;
  if (activation.type == "LeakyRelu") names = {"alpha"};
  if (activation.type == "HardSigmoid") names = {"alpha", "beta"};
  if (activation.type == "Clip") names = {"min", "max"};
  const std::vector<float> numbers = node.reals("activation_params");
  if (numbers.size() != names.size())
    Mapping::refuse_invalid(
        "its activation_params has " + counted(numbers.size(), "number"),
        "its activation " + printable(activation.type) + " has " + std::to_string(names.size()));
  for (std::size_t i = 0; i < names.size(); ++i)
    activation.attributes.push_back(
        {.name = names[i], .kind = AttributeKind::real, .real = numbers[i]});
  return activation;
}

/// The activation as a literal, which lives as long as its node.
std::string_view known_activation(const std::string& type) {
  constexpr std::array<std::string_view, 14> known{
      "Clip",     "Elu",        "HardSigmoid", "LeakyRelu",      "ParametricSoftplus",
      "Relu",     "ScaledTanh", "Selu",        "Sigmoid",        "Softmax",
      "Softplus", "Softsign",   "Tanh",        "ThresholdedRelu"};
  const auto found = std::ranges::find(known, type);
  if (found != known.end()) return *found;
  Mapping::refuse("its activation is \"" + printable(type) + "\"",
                  "activations that are fused are " + join(known));
}

/// The operation with the node's inputs and attributes, an input that is added to what it makes,
/// and the activation.
void map_with_activation(Mapping& node, Node operation, std::size_t added,
                         const FusedActivation& activation) {
  operation.inputs = inputs_of(node, added);
  operation.attributes = attributes_of(node, [](std::string_view name) {
    return !name.starts_with("activation") && !name.starts_with("fused_");
  });
  std::vector<Node> nodes{std::move(operation)};
  if (node.has(added))
    nodes.push_back({.type = "Add", .inputs = {"product", input_of(node, added)}});
  if (!activation.type.empty())
    nodes.push_back(
        {.type = known_activation(activation.type), .attributes = activation.attributes});
  constexpr std::array<std::string_view, 2> between{"product", "sum"};
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    nodes[i].outputs = {between[i]};
    if (nodes[i + 1].inputs.empty()) nodes[i + 1].inputs = {between[i]};
  }
  nodes.back().outputs = {"output"};
  // Before version 11, the numbers of Clip are attributes.
  set_function(node, std::move(nodes), {"output"}, activation.type == "Clip" ? 10 : 22);
}

constexpr std::size_t none_added = inputs_inside.size();

void map_convolution_with_activation(Mapping& node) {
  const bool is_nhwc = std::string_view(node.row().name).starts_with("Nhwc");
  const Node operation{.type = is_nhwc ? "NhwcConv" : "Conv", .domain = is_nhwc ? microsoft : ""};
  map_with_activation(node, operation, 3, listed_activation(node));
}

void map_gemm_with_activation(Mapping& node) {
  map_with_activation(node, {.type = "Gemm"}, none_added,
                      activation_behind(node, "activation", "activation_"));
}

void map_product_with_activation(Mapping& node) {
  map_with_activation(node, {.type = "FusedMatMul", .domain = microsoft}, none_added,
                      activation_behind(node, "activation", "activation_"));
}

/// What the provider itself makes of the operator whose name stands behind "DmlFused".
void map_fused_by_provider(Mapping& node) {
  node.ignore({"fused_activation_domain", "fused_activation_since_version"});
  std::string_view type = node.row().name;
  type.remove_prefix(std::string_view("DmlFused").size());
  FusedActivation activation = activation_behind(node, "fused_activation", "fused_");
  std::erase_if(activation.attributes, [](const Attribute& attribute) {
    return attribute.name.starts_with("activation");
  });
  map_with_activation(node, {.type = type}, none_added, activation);
}

// Others.

/// Attention of com.microsoft whose projection is quantized.
void map_quantized_attention(Mapping& node) {
  require_plain_attention(node, 8);
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
    {"FusedConv", microsoft, "CONVOLUTION with an activation", map_convolution_with_activation},
    {"NhwcFusedConv", microsoft,
     "CONVOLUTION and ELEMENT_WISE_IDENTITY with strides, and an activation",
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
