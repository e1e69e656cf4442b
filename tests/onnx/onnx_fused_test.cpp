// Operators of ONNX Runtime that stand for several nodes: they compute what those nodes compute,
// bit for bit.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "graph/graph.hpp"
#include "onnx_run.hpp"
#include "onnx_writer.hpp"
#include "tensor/half.hpp"

namespace dmlop::test::onnx_fused_test {
namespace {

using namespace onnx_bytes;

constexpr const char* microsoft = "com.microsoft";
constexpr const char* of_provider = "com.microsoft.dml";

/// Runs nodes that read "input0" and so on and write "output0".
OnnxRun run_nodes(const std::vector<std::string>& nodes, const std::vector<Numbers>& inputs,
                  const std::string& domain, bool fuses,
                  const std::vector<std::string>& initializers = {}) {
  std::map<std::string, Numbers> given;
  std::vector<std::string> values;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = "input" + std::to_string(i);
    std::vector<std::string> sizes;
    for (const std::uint64_t size : inputs[i].sizes) sizes.push_back(std::to_string(size));
    given.emplace(name, inputs[i]);
    values.push_back(value(name, sizes));
  }
  return run_onnx(model({.nodes = nodes,
                         .initializers = initializers,
                         .inputs = values,
                         .outputs = {value("output0", {})},
                         .domain = domain}),
                  given, fuses);
}

std::vector<std::string> names_of(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back("input" + std::to_string(i));
  return names;
}

std::size_t count_of_operators(const Graph& graph) {
  return static_cast<std::size_t>(std::ranges::count_if(graph.nodes, [](const GraphNode& node) {
    return std::holds_alternative<GraphOperator>(node.content);
  }));
}

/// Checks that a node computes what others do whose activations are fused, with so many operators
/// of DirectML. Its own activation is fused in any case.
void check_stands_for(const std::string& fused, const std::vector<std::string>& nodes,
                      const std::vector<Numbers>& inputs, const std::string& domain,
                      std::size_t operators, const std::vector<std::string>& initializers = {}) {
  const OnnxRun one = run_nodes({fused}, inputs, domain, false);
  const OnnxRun several = run_nodes(nodes, inputs, domain, true, initializers);
  REQUIRE(one.findings == "");
  REQUIRE(several.findings == "");
  CHECK(one.outputs.at(0).sizes == several.outputs.at(0).sizes);
  CHECK(one.outputs.at(0).values == several.outputs.at(0).values);
  CHECK(count_of_operators(one.graph) == operators);
  for (const GraphNode& node : one.graph.nodes) {
    if (std::holds_alternative<GraphOperator>(node.content)) CHECK(node.name == "node of output0");
  }
}

/// An activation, its attributes, and those of FusedConv.
struct Activation {
  std::string type;
  std::map<std::string, float> numbers = {};
  std::vector<float> list = {};
};

std::vector<std::string> real_attributes(const std::map<std::string, float>& numbers,
                                         const std::string& prefix = "") {
  std::vector<std::string> attributes;
  for (const auto& [name, number] : numbers) attributes.push_back(real(prefix + name, number));
  return attributes;
}

std::vector<std::string> operator+(std::vector<std::string> left,
                                   const std::vector<std::string>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

const Numbers image = some_numbers({2, 4, 5, 6}, 1);
const Numbers filter = some_numbers({6, 2, 3, 2}, 2);  // in 2 groups
const Numbers bias = some_numbers({6}, 3);
const std::vector<std::string> windows{integer("group", 2), integers("strides", {2, 1}),
                                       integers("pads", {1, 0, 0, 1})};
const Sizes made{2, 6, 2, 6};

}  // namespace

TEST_CASE("onnx fused: FusedConv adds its fourth input, and its activation has a list of numbers") {
  const Numbers added = some_numbers(made, 4);
  for (const Activation& activation :
       {Activation{"Relu"}, Activation{"Tanh"}, Activation{"Sigmoid"},
        Activation{"LeakyRelu", {{"alpha", 0.25F}}, {0.25F}},
        Activation{"HardSigmoid", {{"alpha", 0.5F}, {"beta", 0.25F}}, {0.5F, 0.25F}}}) {
    CAPTURE(activation.type);
    std::vector<std::string> attributes =
        windows + std::vector{text("activation", activation.type)};
    if (!activation.list.empty()) attributes.push_back(reals("activation_params", activation.list));
    const std::string conv = node("Conv", names_of(3), {"conv"}, windows);
    check_stands_for(
        microsoft_node("FusedConv", names_of(3), {"output0"}, attributes),
        {conv, node(activation.type, {"conv"}, {"output0"}, real_attributes(activation.numbers))},
        {image, filter, bias}, microsoft, 1);
    check_stands_for(
        microsoft_node("FusedConv", names_of(4), {"output0"}, attributes),
        {conv, node("Add", {"conv", "input3"}, {"sum"}),
         node(activation.type, {"sum"}, {"output0"}, real_attributes(activation.numbers))},
        {image, filter, bias, added}, microsoft, activation.type == "Relu" ? 2 : 3);
  }
  // Without an activation, it is a convolution.
  check_stands_for(microsoft_node("FusedConv", names_of(2), {"output0"}, windows),
                   {node("Conv", names_of(2), {"output0"}, windows)}, {image, filter}, microsoft,
                   1);
}

TEST_CASE("onnx fused: FusedConv clips to the two numbers of its list") {
  check_stands_for(
      microsoft_node("FusedConv", names_of(2), {"output0"},
                     windows + std::vector{text("activation", "Clip"),
                                           reals("activation_params", {-3.5F, 6})}),
      {node("Conv", names_of(2), {"conv"}, windows),
       node("Clip", {"conv", "least", "most"}, {"output0"})},
      {image, filter}, microsoft, 2,
      {tensor("least", 1, {}, raw_floats({-3.5F})), tensor("most", 1, {}, raw_floats({6}))});
}

TEST_CASE("onnx fused: what FusedConv cannot be is refused") {
  const auto refused = [](const std::vector<std::string>& attributes, const std::string& words) {
    check_refused({"FusedConv", {image, filter}, windows + attributes, 1, 17, microsoft}, words);
  };
  refused({text("activation", "Gelu")},
          "its activation is \"Gelu\"\n  rule: activations that are fused are Clip, Elu, ");
  refused({text("activation", "relu")}, "did you mean \"Relu\"?");
  refused({text("activation", "LeakyRelu")},
          "its activation_params has 0 numbers\n  rule: LeakyRelu has 1: alpha");
  refused({text("activation", "Relu"), reals("activation_params", {1})},
          "its activation_params has 1 number\n  rule: Relu has 0");
  refused({text("activation", "Relu"), integers("dilations", {1})},
          "node \"node of output0\" (com.microsoft.FusedConv): its dilations has 1 number");
  refused({text("activation", "Relu"), integer("axis", 1)}, "it has the attribute \"axis\"");
  refused({text("activation", "Relu"), real("activation_alpha", 1)},
          "(com.microsoft.FusedConv): it has the attribute \"activation_alpha\"");
  const auto refused_inputs = [](const std::vector<Numbers>& inputs, const std::string& words) {
    check_refused({"FusedConv", inputs, windows, 1, 17, microsoft}, words);
  };
  refused_inputs({image, filter, {}, some_numbers({1, 6, 1, 1})},
                 "its Z has the sizes [1, 6, 1, 1], must have [2, 6, 2, 6]");
  refused_inputs({some_numbers({4}), some_numbers({6})}, "its input has 1 dimension");
  refused_inputs(
      {image, some_numbers({6, 4, 3, 2})},
      "its filter [6, 4, 3, 2] does not fit its input [2, 4, 5, 6]\n  rule: both have the "
      "same number of dimensions, and dimension 1 of the filter times group, which is 2, "
      "is dimension 1 of the input");
}

namespace {

/// The tensor with its channels, which stand second, at the end.
Numbers last(const Numbers& numbers) {
  Sizes sizes = numbers.sizes;
  std::rotate(sizes.begin() + 1, sizes.begin() + 2, sizes.end());
  return numbers_at(sizes, [&](Sizes place) {
    std::rotate(place.begin() + 1, place.end() - 1, place.end());
    return at(numbers, place);
  });
}

}  // namespace

TEST_CASE(
    "onnx fused: NhwcFusedConv has the channels of images last, but not those of the filter") {
  // As many channels as the window has rows and columns: the sizes do not tell the order.
  const Numbers x = some_numbers({2, 3, 5, 6}, 1), w = some_numbers({4, 3, 3, 3}, 2);
  const Numbers b = some_numbers({4}, 3), z = some_numbers({2, 4, 3, 4}, 4);
  for (const bool has_sum : {false, true}) {
    OneNode channels_second{"FusedConv", {x, w, b}, {text("activation", "Relu")}, 1, 17, microsoft};
    OneNode channels_last{"NhwcFusedConv", {last(x), w, b}, channels_second.attributes, 1, 17,
                          microsoft};
    if (has_sum) {
      channels_second.inputs.push_back(z);
      channels_last.inputs.push_back(last(z));
    }
    const OnnxRun run = run_node(channels_second);
    REQUIRE(run.findings == "");
    CHECK(difference(channels_last, {last(run.outputs.at(0))}) == "");
  }
  check_refused({"NhwcFusedConv", {last(x), w, b, z}, {}, 1, 17, microsoft},
                "its Z has the sizes [2, 4, 3, 4], must have [2, 3, 4, 4]");
  check_refused(
      {"NhwcFusedConv", {x, w}, {}, 1, 17, microsoft},
      "its filter [4, 3, 3, 3] does not fit its input [2, 3, 5, 6]\n  rule: both have the "
      "same number of dimensions, and dimension 1 of the filter times group, which is 1, "
      "is dimension 3 of the input");
}

TEST_CASE("onnx fused: NhwcConv has its channels last, in the filter, too") {
  const auto conv = [](const Numbers& x, const Numbers& w, const std::vector<std::string>& more) {
    const OnnxRun run = run_node({"Conv", {x, w, bias}, more});
    REQUIRE(run.findings == "");
    return run.outputs.at(0);
  };
  const auto nhwc = [&](const Numbers& x, const Numbers& w, const std::vector<std::string>& more) {
    return OneNode{"NhwcConv", {last(x), last(w), bias}, more, 1, 17, microsoft};
  };
  CHECK(difference(nhwc(image, filter, windows), {last(conv(image, filter, windows))}) == "");
  const std::vector<std::string> same{text("auto_pad", "SAME_UPPER")};
  const Numbers line = some_numbers({2, 4, 7}, 5), short_filter = some_numbers({6, 4, 3}, 6);
  CHECK(difference(nhwc(line, short_filter, same), {last(conv(line, short_filter, same))}) == "");
  const Numbers space = some_numbers({1, 2, 3, 4, 5}, 7), cube = some_numbers({6, 2, 2, 2, 3}, 8);
  CHECK(difference(nhwc(space, cube, {}), {last(conv(space, cube, {}))}) == "");
  check_refused({"NhwcConv", {image, filter}, {}, 1, 17, microsoft},
                "its filter [6, 2, 3, 2] does not fit its input [2, 4, 5, 6]");
  check_refused({"NhwcConv", {image, short_filter}, {}, 1, 17, microsoft},
                "its filter [6, 4, 3] does not fit its input [2, 4, 5, 6]");
}

TEST_CASE("onnx fused: ConvTransposeWithDynamicPads has its pads as an input") {
  const Numbers backward = some_numbers({4, 3, 3, 2}, 2), three = some_numbers({3}, 3);
  const std::vector<std::string> strides{integers("strides", {2, 3})};
  for (const bool has_bias : {false, true}) {
    OneNode plain{
        "ConvTranspose", {image, backward}, strides + std::vector{integers("pads", {1, 0, 2, 1})}};
    OneNode dynamic{"ConvTransposeWithDynamicPads",
                    {image, backward, whole_numbers({1, 0, 2, 1})},
                    strides,
                    1,
                    17,
                    microsoft};
    if (has_bias) {
      plain.inputs.push_back(three);
      dynamic.inputs.push_back(three);
    }
    const OnnxRun expected = run_node(plain);
    REQUIRE(expected.findings == "");
    CHECK(difference(dynamic, expected.outputs) == "");
  }
  const auto refused = [&](const std::vector<std::int64_t>& pads, const std::string& words) {
    check_refused({"ConvTransposeWithDynamicPads",
                   {image, backward, whole_numbers(pads)},
                   strides,
                   1,
                   17,
                   microsoft},
                  words);
  };
  refused({1, 0, 2}, "its input 2 \"input2\" has 3 numbers, must have 4");
  refused({1, 0, 2, -1}, "its Pads has the number -1");
  for (const char* attribute : {"pads", "output_shape"})
    check_refused({"ConvTransposeWithDynamicPads",
                   {image, backward, whole_numbers({1, 0, 2, 1})},
                   strides + std::vector{integers(attribute, {1, 1, 1, 1})},
                   1,
                   17,
                   microsoft},
                  "it has the attribute \"" + std::string(attribute) +
                      "\"\n  rule: its padding is an input, Pads");
}

TEST_CASE("onnx fused: products of matrices end with an activation") {
  const Numbers a = some_numbers({3, 4}, 1), b = some_numbers({5, 4}, 2), c = some_numbers({5}, 3);
  const std::vector<std::string> turned{integer("transB", 1), real("alpha", 0.5F)};
  for (const Activation& activation :
       {Activation{"Relu"}, Activation{"LeakyRelu", {{"alpha", 0.25F}}},
        Activation{"Selu", {{"alpha", 1.5F}, {"gamma", 1.25F}}}, Activation{"Softplus"}}) {
    CAPTURE(activation.type);
    const std::vector<std::string> attributes = turned +
                                                std::vector{text("activation", activation.type)} +
                                                real_attributes(activation.numbers, "activation_");
    const std::string behind =
        node(activation.type, {"product"}, {"output0"}, real_attributes(activation.numbers));
    check_stands_for(microsoft_node("FusedGemm", names_of(3), {"output0"}, attributes),
                     {node("Gemm", names_of(3), {"product"}, turned), behind}, {a, b, c}, microsoft,
                     1);
    check_stands_for(microsoft_node("FusedMatMulActivation", names_of(2), {"output0"}, attributes),
                     {microsoft_node("FusedMatMul", names_of(2), {"product"}, turned), behind},
                     {a, b}, microsoft, 1);
  }
  check_stands_for(microsoft_node("FusedMatMulActivation", names_of(2), {"output0"},
                                  turned + std::vector{text("activation", "Softmax"),
                                                       integer("activation_axis", 0)}),
                   {microsoft_node("FusedMatMul", names_of(2), {"product"}, turned),
                    node("Softmax", {"product"}, {"output0"}, {integer("axis", 0)})},
                   {a, b}, microsoft, 2);
}

TEST_CASE("onnx fused: a product or an activation that is none is refused") {
  const Numbers a = some_numbers({3, 4}, 1), b = some_numbers({4, 5}, 2);
  const auto refused = [](const OneNode& node, const std::string& words) {
    check_refused({node.type, node.inputs, node.attributes, 1, 17, microsoft}, words);
  };
  refused({"FusedMatMulActivation", {a, b}}, "its attribute activation is missing");
  refused({"FusedGemm", {a}, {text("activation", "Relu")}},
          "node \"node of output0\" (com.microsoft.FusedGemm as Gemm): its input 1 is missing");
  refused({"FusedGemm", {a, b}, {text("activation", "Clip")}}, "its activation is \"Clip\"");
  refused({"FusedGemm", {a, b}, {text("activation", "Relu"), real("activation_alpha", 1)}},
          "(com.microsoft.FusedGemm): it has the attribute \"activation_alpha\"");
  check_refused({"DmlFusedGemm",
                 {a, b},
                 {text("fused_activation", "Relu"), text("fused_activation_domain", "own")},
                 1,
                 17,
                 of_provider},
                "its fused_activation_domain is \"own\"");
  check_refused({"DmlFusedSum",
                 std::vector<Numbers>(12, a),
                 {text("fused_activation", "Relu")},
                 1,
                 17,
                 of_provider},
                "it has 12 inputs\n  rule: at most 9 are read");
  check_refused({"DmlFusedGemm", {a, b}, {}, 1, 17, of_provider},
                "its attribute fused_activation is missing");
}

TEST_CASE("onnx fused: operators that the provider fused are those without \"DmlFused\"") {
  const Numbers x = some_numbers({2, 4, 3, 5}, 1), y = some_numbers({2, 4, 3, 5}, 2);
  const Numbers channels = some_numbers({4}, 3), factors = some_numbers({4}, 4);
  const Numbers positive =
      numbers_at({4}, [](const Sizes& place) { return static_cast<double>(place[0]) + 0.5; });
  struct Case {
    std::string type;
    std::vector<Numbers> inputs;
    std::vector<std::string> attributes = {};
  };
  const auto check = [](const Case& one, const std::string& activation,
                        const std::map<std::string, float>& numbers) {
    CAPTURE(one.type);
    const std::size_t count = one.inputs.size();
    check_stands_for(node_of(of_provider, "DmlFused" + one.type, names_of(count), {"output0"},
                             one.attributes +
                                 std::vector{text("fused_activation", activation),
                                             text("fused_activation_domain", ""),
                                             integer("fused_activation_since_version", 6)} +
                                 real_attributes(numbers, "fused_")),
                     {node(one.type, names_of(count), {"before"}, one.attributes),
                      node(activation, {"before"}, {"output0"}, real_attributes(numbers))},
                     one.inputs, of_provider, 1);
  };
  for (const Case& one :
       {Case{"Conv", {image, filter, bias}, windows},
        Case{"ConvTranspose", {image, some_numbers({4, 3, 3, 2})}, {integers("strides", {2, 2})}},
        Case{
            "BatchNormalization", {x, factors, channels, channels, positive}, {real("epsilon", 1)}},
        Case{"InstanceNormalization", {x, factors, channels}, {real("epsilon", 1)}},
        Case{"MeanVarianceNormalization", {x}, {integers("axes", {2, 3})}},
        Case{"Gemm", {some_numbers({3, 4}), some_numbers({4, 2})}, {real("alpha", 2)}},
        Case{"MatMul", {some_numbers({3, 4}), some_numbers({4, 2})}}})
    check(one, "LeakyRelu", {{"alpha", 0.25F}});
  for (const Case& one : {Case{"Add", {x, y}}, Case{"Sum", {x, y}}}) check(one, "Relu", {});
}

namespace {

/// A constant of a model: different numbers from `least` to 6.25 more.
std::string constant(const std::string& name, const Sizes& sizes, std::uint64_t seed,
                     double least = -3.125, bool is_half = false) {
  std::string raw;
  for (const double number : some_numbers(sizes, seed).values) {
    const double value = number + 3.125 + least;
    const std::uint16_t bits = half_from_double(value);
    raw += is_half ? std::string(reinterpret_cast<const char*>(&bits), sizeof bits)
                   : raw_floats({static_cast<float>(value)});
  }
  return tensor(name, is_half ? 10 : 1, {sizes.begin(), sizes.end()}, raw);
}

/// A convolution in two groups and its batch normalization, which may have a bias and an
/// activation.
struct Normalized {
  bool has_bias = true;
  bool is_half = false;
  std::string convolution = "Conv";
  std::vector<std::string> more_nodes = {};  // behind the normalization, which writes "y"
  std::string output = "y";
  std::string variable = {};  // what a node computes

  OnnxRun run(bool fuses) const {
    const bool is_transposed = convolution == "ConvTranspose";
    std::vector<std::string> nodes, constants, values;
    std::map<std::string, Numbers> given;
    const auto type = is_half ? DataType::Float16 : DataType::Float32;
    const auto take = [&](const std::string& name, Numbers numbers) {
      std::vector<std::string> sizes;
      for (const std::uint64_t size : numbers.sizes) sizes.push_back(std::to_string(size));
      values.push_back(value(name, sizes, is_half ? 10 : 1));
      numbers.type = type;
      given.emplace(name, std::move(numbers));
    };
    take("x", some_numbers({2, 4, 5, 6}, 1));
    const auto add = [&](const std::string& name, const Sizes& sizes, std::uint64_t seed,
                         double least) {
      if (name == variable) {
        nodes.push_back(node("Neg", {name + "/negative"}, {name}));
        return take(name + "/negative", some_numbers(sizes, seed));
      }
      constants.push_back(constant(name, sizes, seed, least, is_half));
    };
    add("w", is_transposed ? Sizes{4, 3, 3, 2} : Sizes{6, 2, 3, 2}, 2, -3);
    if (has_bias) add("b", {6}, 3, -3);
    add("scale", {6}, 4, -3);
    add("shift", {6}, 5, -3);
    add("mean", {6}, 6, -3);
    add("variance", {6}, 7, 0.25);
    constants.push_back(tensor("sizes of w", 7, {4}, raw_integers({6, 2, 3, 2})));
    std::vector<std::string> of_convolution{"x", "w"};
    if (has_bias) of_convolution.push_back("b");
    nodes.push_back(node(convolution, of_convolution, {"conv"}, {integer("group", 2)}));
    nodes.push_back(node("BatchNormalization", {"conv", "scale", "shift", "mean", "variance"},
                         {"y"}, {real("epsilon", 0.125F)}));
    nodes.insert(nodes.end(), more_nodes.begin(), more_nodes.end());
    std::vector<std::string> outputs{value(output, {}, is_half ? 10 : 1)};
    if (output == "conv") outputs.push_back(value("y", {}, is_half ? 10 : 1));
    return run_onnx(
        model({.nodes = nodes, .initializers = constants, .inputs = values, .outputs = outputs}),
        given, fuses);
  }

  /// Checks how many operators are left, and that they compute nearly the same.
  void check_left(std::size_t operators) const {
    const OnnxRun folded = run(true), apart = run(false);
    REQUIRE(folded.findings == "");
    REQUIRE(apart.findings == "");
    CHECK(count_of_operators(folded.graph) == operators);
    REQUIRE(folded.outputs.size() == apart.outputs.size());
    double largest = 0, error = 0;
    for (std::size_t k = 0; k < apart.outputs.size(); ++k) {
      REQUIRE(folded.outputs[k].sizes == apart.outputs[k].sizes);
      for (std::size_t i = 0; i < apart.outputs[k].values.size(); ++i) {
        largest = std::max(largest, std::abs(apart.outputs[k].values[i]));
        error = std::max(error, std::abs(folded.outputs[k].values[i] - apart.outputs[k].values[i]));
      }
    }
    CHECK(largest > 2);
    CHECK(error < largest * (is_half ? 4e-3 : 1e-6));
  }
};

}  // namespace

TEST_CASE("onnx fused: a batch normalization becomes part of the convolution before it") {
  Normalized{}.check_left(1);
  Normalized{.has_bias = false}.check_left(1);
  Normalized{.is_half = true}.check_left(1);
  Normalized{.more_nodes = {node("Relu", {"y"}, {"z"})}, .output = "z"}.check_left(1);
  const OnnxRun run = Normalized{}.run(true);
  // The constants of both nodes are gone.
  CHECK(run.graph.nodes.size() == 4);  // the image, the filter, the bias and the convolution
  CHECK(run.graph.nodes.back().name == "node of y");
  // They stand in memory, and not in the text of a graph that is saved as JSON.
  for (std::size_t i = 1; i < 3; ++i)
    CHECK(std::get<GraphConstant>(run.graph.nodes[i].content).view != nullptr);
}

TEST_CASE("onnx fused: a batch normalization becomes part of a convolution along a line") {
  const auto run_line = [](bool fuses) {
    return run_onnx(model({.nodes = {node("Conv", {"x", "w"}, {"conv"}),
                                     node("BatchNormalization",
                                          {"conv", "scale", "shift", "mean", "variance"}, {"y"})},
                           .initializers = {constant("w", {6, 4, 3}, 2), constant("scale", {6}, 4),
                                            constant("shift", {6}, 5), constant("mean", {6}, 6),
                                            constant("variance", {6}, 7, 0.5)},
                           .inputs = {value("x", {"2", "4", "7"})},
                           .outputs = {value("y", {})}}),
                    {{"x", some_numbers({2, 4, 7}, 1)}}, fuses);
  };
  const OnnxRun folded = run_line(true);
  REQUIRE(folded.findings == "");
  CHECK(count_of_operators(folded.graph) == 1);
  CHECK(difference(folded.outputs.at(0), run_line(false).outputs.at(0)) == "");
}

TEST_CASE("onnx fused: a batch normalization stays if the type cannot hold the filter") {
  const auto halves = [](const std::string& name, const std::vector<std::int64_t>& sizes,
                         double value) {
    const std::uint16_t bits = half_from_double(value);
    return tensor(name, 10, sizes, {reinterpret_cast<const char*>(&bits), sizeof bits});
  };
  const auto run_of = [&](bool fuses, double weight, float epsilon = 1e-5F) {
    return run_onnx(
        model({.nodes = {node("Conv", {"x", "w"}, {"conv"}),
                         node("BatchNormalization", {"conv", "scale", "shift", "mean", "variance"},
                              {"y"}, {real("epsilon", epsilon)})},
               .initializers = {halves("w", {1, 1, 1, 1}, weight), halves("scale", {1}, 1),
                                halves("shift", {1}, 0), halves("mean", {1}, weight),
                                halves("variance", {1}, 0)},
               .inputs = {value("x", {"1", "1", "2", "2"}, 10)},
               .outputs = {value("y", {}, 10)}}),
        {{"x", Numbers{{1, 1, 2, 2}, {1, 1.25, 0.75, 1}, DataType::Float16}}}, fuses);
  };
  // Divided by the square root of 1e-5, 200 is 63,246, and 300 is more than a half can be.
  CHECK(count_of_operators(run_of(true, 200).graph) == 1);
  // 1.2e-7 becomes 3.8e-5, which is no normal number.
  CHECK(count_of_operators(run_of(true, 1e-6).graph) == 1);
  CHECK(count_of_operators(run_of(true, 1.2e-7).graph) == 2);
  CHECK(count_of_operators(run_of(true, 0x1p-13, 4).graph) == 1);
  CHECK(count_of_operators(run_of(true, 0x1p-14, 4).graph) == 2);
  CHECK(count_of_operators(run_of(true, 0).graph) == 1);
  const OnnxRun run = run_of(true, 300);
  CHECK(count_of_operators(run.graph) == 2);
  CHECK(run.outputs.at(0).values == run_of(false, 300).outputs.at(0).values);
}

TEST_CASE("onnx fused: factors and terms of channels become part of the convolution before them") {
  const auto run_of = [](const std::vector<std::string>& after, bool fuses, bool is_half = false) {
    const std::int64_t type = is_half ? 10 : 1;
    Numbers x = some_numbers({2, 4, 5, 7}, 1);
    if (is_half) x.type = DataType::Float16;
    std::vector<std::string> nodes{node("Conv", {"x", "w"}, {"conv"})};
    nodes.insert(nodes.end(), after.begin(), after.end());
    const auto of = [&](const char* name, const Sizes& sizes, std::uint64_t seed, double least) {
      return constant(name, sizes, seed, least, is_half);
    };
    return run_onnx(
        model({.nodes = nodes,
               .initializers = {of("w", {6, 4, 1, 2}, 2, -3), of("factors", {6, 1, 1}, 3, -3),
                                of("terms", {1, 6, 1, 1}, 4, -3), of("one", {1}, 5, 1),
                                of("rows", {5, 1}, 6, 1), of("all", {2, 6, 5, 6}, 7, 1),
                                of("lines", {6}, 8, 1), of("images", {2, 1, 1, 1}, 9, 1),
                                of("scale", {6}, 10, -3), of("shift", {6}, 11, -3),
                                of("mean", {6}, 12, -3), of("variance", {6}, 13, 0.25)},
               .inputs = {value("x", {"2", "4", "5", "7"}, static_cast<int>(type))},
               .outputs = {value("y", {}, static_cast<int>(type))}}),
        {{"x", x}}, fuses);
  };
  const auto check_left = [&](const std::vector<std::string>& after, std::size_t operators) {
    const OnnxRun folded = run_of(after, true), apart = run_of(after, false);
    REQUIRE(folded.findings == "");
    CHECK(count_of_operators(folded.graph) == operators);
    CHECK(difference(folded.outputs.at(0), apart.outputs.at(0)) == "");
    return folded;
  };
  using Names = std::vector<std::string>;
  for (const Names& factors : {Names{"conv", "factors"}, {"factors", "conv"}, {"conv", "one"}})
    check_left({node("Mul", factors, {"y"})}, 1);
  for (const Names& terms : {Names{"conv", "terms"}, {"terms", "conv"}, {"conv", "one"}}) {
    const OnnxRun run = check_left({node("Add", terms, {"y"})}, 1);
    // The filter stays as it is.
    CHECK(run.graph.nodes.back().inputs.at(1) == "w");
  }
  const std::string normalization =
      node("BatchNormalization", {"sum", "scale", "shift", "mean", "variance"}, {"y"});
  check_left({node("Mul", {"conv", "factors"}, {"product"}),
              node("Add", {"product", "terms"}, {"sum"}), normalization},
             1);
  const OnnxRun run = check_left({node("Add", {"conv", "terms"}, {"sum"}), normalization}, 1);
  CHECK(run.graph.nodes.back().name == "node of y");
  CHECK(count_of_operators(run_of({node("Mul", {"conv", "factors"}, {"product"}),
                                   node("Add", {"product", "terms"}, {"y"})},
                                  true, true)
                               .graph) == 1);
  // Two convolutions may have one filter that nothing scales.
  check_left({node("Conv", {"x", "w"}, {"other"}), node("Add", {"other", "terms"}, {"sum"}),
              node("Add", {"sum", "conv"}, {"y"})},
             3);
  for (const char* others : {"rows", "all", "lines", "images"}) {
    CAPTURE(others);
    for (const char* type : {"Mul", "Add"}) check_left({node(type, {"conv", others}, {"y"})}, 2);
  }
  check_left({node("Mul", {"conv", "conv"}, {"y"})}, 2);
  check_left({node("Mul", {"conv", "factors"}, {"p"}), node("Add", {"p", "conv"}, {"y"})}, 3);
  check_left({node("Sub", {"conv", "terms"}, {"y"})}, 2);
}

namespace {

/// The operators of a convolution and its normalization by numbers of one channel.
struct OneChannel {
  std::vector<double> weights;  // of a line
  double scale = 1, shift = 0, mean = 0;
  bool is_half = true;

  std::size_t operators() const {
    const std::int64_t type = is_half ? 10 : 1;
    const auto numbers = [&](const std::string& name, const std::vector<std::int64_t>& sizes,
                             const std::vector<double>& values) {
      std::string raw;
      for (const double value : values) {
        const std::uint16_t bits = half_from_double(value);
        raw += is_half ? std::string(reinterpret_cast<const char*>(&bits), sizeof bits)
                       : raw_floats({static_cast<float>(value)});
      }
      return tensor(name, type, sizes, raw);
    };
    const auto width = static_cast<std::int64_t>(weights.size());
    const OnnxRun run = run_onnx(
        model({.nodes = {node("Conv", {"x", "w"}, {"conv"}),
                         node("BatchNormalization", {"conv", "scale", "shift", "mean", "variance"},
                              {"y"}, {real("epsilon", 1)})},
               .initializers = {numbers("w", {1, 1, 1, width}, weights),
                                numbers("scale", {1}, {scale}), numbers("shift", {1}, {shift}),
                                numbers("mean", {1}, {mean}), numbers("variance", {1}, {0})},
               .inputs = {value("x", {"1", "1", "2", "3"}, type)},
               .outputs = {value("y", {}, type)}}),
        {{"x",
          Numbers{
              {1, 1, 2, 3}, {1, 2, 3, 4, 5, 6}, is_half ? DataType::Float16 : DataType::Float32}}},
        true);
    REQUIRE(run.findings == "");
    return count_of_operators(run.graph);
  }
};

}  // namespace

TEST_CASE("onnx fused: a batch normalization stays if one of its new constants is infinite") {
  CHECK(OneChannel{.weights = {1}, .shift = 30000, .mean = -30000}.operators() == 1);
  CHECK(OneChannel{.weights = {1}, .shift = 60000, .mean = -60000}.operators() == 2);
  CHECK(OneChannel{.weights = {1e38}, .scale = 3, .is_half = false}.operators() == 1);
  CHECK(OneChannel{.weights = {1e38}, .scale = 4, .is_half = false}.operators() == 2);
}

TEST_CASE("onnx fused: the largest weight of a channel decides whether it has enough digits") {
  CHECK(OneChannel{.weights = {1e-6, 1}, .scale = 0.5}.operators() == 1);
  CHECK(OneChannel{.weights = {1, 1e-6}, .scale = 0.5}.operators() == 1);
  CHECK(OneChannel{.weights = {1e-6, 1e-6}, .scale = 0.5}.operators() == 2);
}

TEST_CASE("onnx fused: a batch normalization stays behind a transposed convolution") {
  const auto run_of = [](bool fuses) {
    return run_onnx(
        model({.nodes = {node("ConvTranspose", {"x", "w"}, {"conv"}),
                         node("BatchNormalization", {"conv", "scale", "shift", "mean", "variance"},
                              {"y"})},
               .initializers = {constant("w", {3, 3, 1, 1}, 2), constant("scale", {3}, 4),
                                constant("shift", {3}, 5), constant("mean", {3}, 6),
                                constant("variance", {3}, 7, 0.5)},
               .inputs = {value("x", {"2", "3", "2", "2"})},
               .outputs = {value("y", {})}}),
        {{"x", some_numbers({2, 3, 2, 2}, 1)}}, fuses);
  };
  const OnnxRun folded = run_of(true);
  REQUIRE(folded.findings == "");
  CHECK(count_of_operators(folded.graph) == 2);
  CHECK(folded.outputs.at(0).values == run_of(false).outputs.at(0).values);
}

TEST_CASE("onnx fused: a batch normalization stays if it is not all of what follows") {
  Normalized{.more_nodes = {node("Add", {"y", "conv"}, {"z"})}, .output = "z"}.check_left(3);
  Normalized{.output = "conv"}.check_left(2);
  Normalized{.convolution = "ConvTranspose"}.check_left(2);
  // Two convolutions with one filter would have two.
  Normalized{.more_nodes = {node("Conv", {"x", "w"}, {"other"}, {integer("group", 2)}),
                            node("Add", {"y", "other"}, {"z"})},
             .output = "z"}
      .check_left(4);
  // Nor have two whose filters are one constant: the first of them is folded.
  Normalized{.more_nodes = {node("Reshape", {"w", "sizes of w"}, {"w2"}),
                            node("Conv", {"x", "w2"}, {"conv2"}, {integer("group", 2)}),
                            node("BatchNormalization",
                                 {"conv2", "scale", "shift", "mean", "variance"}, {"y2"}),
                            node("Add", {"y", "y2"}, {"z"})},
             .output = "z"}
      .check_left(4);
  // Behind an activation, it normalizes something else.
  Normalized{.more_nodes = {node("Relu", {"y"}, {"z"}),
                            node("BatchNormalization", {"z", "scale", "shift", "mean", "variance"},
                                 {"again"})},
             .output = "again"}
      .check_left(2);
}

TEST_CASE("onnx fused: a batch normalization stays if what it reads is known only when it runs") {
  for (const char* name : {"w", "b", "scale", "shift", "mean"}) {
    CAPTURE(name);
    Normalized{.variable = name}.check_left(3);
  }
}

TEST_CASE("onnx fused: constants that others read, too, stay as they are") {
  const Normalized normalized{
      .more_nodes = {node("InstanceNormalization", {"y", "scale", "shift"}, {"z"})}, .output = "z"};
  normalized.check_left(2);
  CHECK(normalized.run(true).graph.nodes.size() == 7);  // with the image and four constants
}

namespace {

/// The operators of a model that reads x, and the output of which is y.
std::vector<std::string> operators_of(const std::vector<std::string>& nodes, bool fuses,
                                      const Sizes& of_output = {2, 3}) {
  const OnnxRun run = run_onnx(
      model({.nodes = nodes, .inputs = {value("x", {"2", "3"})}, .outputs = {value("y", {})}}),
      {{"x", some_numbers({2, 3}, 8)}}, fuses);
  REQUIRE(run.findings == "");
  CHECK(run.outputs.at(0).sizes == of_output);
  std::vector<std::string> types;
  for (const GraphNode& node : run.graph.nodes) {
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    if (operation != nullptr) types.push_back(operation->type);
  }
  return types;
}

}  // namespace

TEST_CASE("onnx fused: x * sigmoid(x) is one operator, and nearly the same") {
  for (const bool is_left : {true, false}) {
    const std::vector<std::string> nodes{
        node("Sigmoid", {"x"}, {"s"}),
        node("Mul",
             is_left ? std::vector<std::string>{"x", "s"} : std::vector<std::string>{"s", "x"},
             {"y"})};
    CHECK(operators_of(nodes, true) == std::vector<std::string>{"DML_OPERATOR_ACTIVATION_SWISH"});
    CHECK(operators_of(nodes, false).size() == 2);
  }
  const Numbers x = some_numbers({2, 3}, 8);
  const OnnxRun run =
      run_onnx(model({.nodes = {node("Sigmoid", {"x"}, {"s"}), node("Mul", {"x", "s"}, {"y"})},
                      .inputs = {value("x", {"2", "3"})},
                      .outputs = {value("y", {})}}),
               {{"x", x}}, true);
  const Numbers expected = numbers_at(
      x.sizes, [&](const Sizes& place) { return at(x, place) / (1 + std::exp(-at(x, place))); });
  CHECK(difference(run.outputs.at(0), expected) == "");
  CHECK(run.graph.nodes.back().name == "node of y");
}

TEST_CASE("onnx fused: a sigmoid stays if others read it, or if it multiplies something else") {
  CHECK(operators_of({node("Sigmoid", {"x"}, {"s"}), node("Mul", {"x", "s"}, {"m"}),
                      node("Add", {"m", "s"}, {"y"})},
                     true)
            .size() == 3);
  CHECK(operators_of({node("Sigmoid", {"x"}, {"s"}), node("Neg", {"x"}, {"n"}),
                      node("Mul", {"n", "s"}, {"y"})},
                     true)
            .size() == 3);
  CHECK(
      operators_of({node("Sigmoid", {"x"}, {"s"}), node("Mul", {"s", "s"}, {"y"})}, true).size() ==
      2);
  CHECK(operators_of({node("Tanh", {"x"}, {"s"}), node("Mul", {"x", "s"}, {"y"})}, true).size() ==
        2);
}

namespace {

std::string scalar(const std::string& name, float value) {
  return tensor(name, 1, {}, raw_floats({value}));
}

/// Runs nodes that read x and constants and write y, fused or not.
OnnxRun run_chain(const std::vector<std::string>& nodes, bool fuses,
                  const Sizes& sizes = {2, 3, 4}) {
  std::vector<std::string> dimensions;
  for (const std::uint64_t size : sizes) dimensions.push_back(std::to_string(size));
  return run_onnx(
      model(
          {.nodes = nodes,
           .initializers = {scalar("root", std::sqrt(2.0F)), scalar("reciprocal", std::sqrt(0.5F)),
                            scalar("one", 1), scalar("half", 0.5F), scalar("nearly half", 0.49998F),
                            scalar("two", 2), scalar("three", 3), scalar("epsilon", 0.125F),
                            tensor("half of four dimensions", 1, {1, 1, 1, 1}, raw_floats({0.5F})),
                            constant("scale", {4}, 2), constant("shift", {4}, 3)},
           .inputs = {value("x", dimensions)},
           .outputs = {value("y", {})},
           .version = 12}),
      {{"x", some_numbers(sizes, 9)}}, fuses);
}

/// Checks that nodes become these operators, and compute nearly the same.
void check_joined(const std::vector<std::string>& nodes, const std::vector<std::string>& types,
                  const Sizes& sizes = {2, 3, 4}) {
  const OnnxRun joined = run_chain(nodes, true, sizes), apart = run_chain(nodes, false, sizes);
  REQUIRE(joined.findings == "");
  REQUIRE(apart.findings == "");
  std::vector<std::string> found;
  for (const GraphNode& node : joined.graph.nodes) {
    const auto* operation = std::get_if<GraphOperator>(&node.content);
    if (operation != nullptr) found.push_back(operation->type.substr(13));
  }
  CHECK(found == types);
  CHECK(difference(joined.outputs.at(0), apart.outputs.at(0)) == "");
  CHECK(count_of_operators(apart.graph) > types.size());
  // Constants that nothing reads any more are gone.
  for (const GraphNode& node : joined.graph.nodes) {
    const bool is_no_longer_needed = !node.name.starts_with("sh") && !node.name.starts_with("sc");
    if (std::holds_alternative<GraphConstant>(node.content) && is_no_longer_needed)
      CHECK(node.name == "x");
  }
}
/// The same of nodes that stay as they are.
void check_apart(const std::vector<std::string>& nodes, const Sizes& sizes = {2, 3, 4}) {
  const OnnxRun joined = run_chain(nodes, true, sizes), apart = run_chain(nodes, false, sizes);
  REQUIRE(joined.findings == "");
  CHECK(count_of_operators(joined.graph) == count_of_operators(apart.graph));
  const auto is_same = [](double a, double b) {
    return a == b || (std::isnan(a) && std::isnan(b));
  };
  CHECK(std::ranges::equal(joined.outputs.at(0).values, apart.outputs.at(0).values, is_same));
}

using Names = std::vector<std::string>;

/// 1 + erf(x / sqrt(2)), which is called "gate".
std::vector<std::string> gate_of(bool divides, bool is_one_first) {
  return {
      divides ? node("Div", {"x", "root"}, {"angle"}) : node("Mul", {"x", "reciprocal"}, {"angle"}),
      node("Erf", {"angle"}, {"erf"}),
      node("Add", is_one_first ? Names{"one", "erf"} : Names{"erf", "one"}, {"gate"})};
}

/// A layer normalization over the last axis, whose nodes may be changed.
struct Layer {
  Names deviation{"x", "mean"};
  std::string square = node("Pow", {"deviation", "two"}, {"square"});
  std::string average = "ReduceMean";
  std::int64_t keeps_mean = 1;
  std::int64_t keeps_variance = 1;
  std::int64_t axis = -1;
  Names quotient{"deviation", "root of variance"};
  Names product{"normalized", "scale"};
  Names sum{"product", "shift"};

  std::vector<std::string> nodes() const {
    const auto attributes = [&](std::int64_t keeps) {
      return std::vector{integers("axes", {axis}), integer("keepdims", keeps)};
    };
    return {node("ReduceMean", {"x"}, {"mean"}, attributes(keeps_mean)),
            node("Sub", deviation, {"deviation"}),
            square,
            node(average, {"square"}, {"variance"}, attributes(keeps_variance)),
            node("Add", {"variance", "epsilon"}, {"more"}),
            node("Sqrt", {"more"}, {"root of variance"}),
            node("Div", quotient, {"normalized"}),
            node("Mul", product, {"product"}),
            node("Add", sum, {"y"})};
  }
};

}  // namespace

TEST_CASE("onnx fused: GELU in all its forms is one operator") {
  for (const bool divides : {true, false}) {
    for (const bool is_one_first : {true, false}) {
      const std::vector<std::string> gate = gate_of(divides, is_one_first);
      for (const Names& factors : {Names{"x", "gate"}, {"gate", "x"}}) {
        for (const Names& halved : {Names{"product", "half"}, {"half", "product"}})
          check_joined(
              gate + std::vector{node("Mul", factors, {"product"}), node("Mul", halved, {"y"})},
              {"ACTIVATION_GELU"});
      }
      for (const Names& factors : {Names{"h", "gate"}, {"gate", "h"}})
        check_joined(
            gate + std::vector{node("Mul", {"x", "half"}, {"h"}), node("Mul", factors, {"y"})},
            {"ACTIVATION_GELU"});
    }
  }
  check_joined(gate_of(true, false) +
                   std::vector{node("Mul", {"x", "gate"}, {"product"}),
                               node("Mul", {"product", "half of four dimensions"}, {"y"})},
               {"ACTIVATION_GELU"});
}

TEST_CASE("onnx fused: GELU of FLOAT16, whose constants are rounded, is one operator") {
  const auto number = [](const std::string& name, double value) {
    const std::uint16_t bits = half_from_double(value);
    return tensor(name, 10, {}, {reinterpret_cast<const char*>(&bits), sizeof bits});
  };
  const auto operators = [&](double half) {
    const OnnxRun run = run_onnx(
        model({.nodes = gate_of(true, false) + std::vector{node("Mul", {"x", "gate"}, {"product"}),
                                                           node("Mul", {"product", "half"}, {"y"})},
               .initializers = {number("root", std::sqrt(2.0)), number("one", 1),
                                number("half", half)},
               .inputs = {value("x", {"3"}, 10)},
               .outputs = {value("y", {}, 10)}}),
        {{"x", Numbers{{3}, {-1, 0, 2}, DataType::Float16}}}, true);
    REQUIRE(run.findings == "");
    return count_of_operators(run.graph);
  };
  CHECK(operators(0.5) == 1);
  // The numbers that follow and precede it.
  CHECK(operators(0.5 + 0x1p-11) == 5);
  CHECK(operators(0.5 - 0x1p-11) == 5);
}

TEST_CASE("onnx fused: what is not quite GELU stays") {
  const std::vector<std::string> gate = gate_of(true, false);
  const std::string product = node("Mul", {"x", "gate"}, {"product"});
  check_apart(gate + std::vector{product, node("Mul", {"product", "nearly half"}, {"y"})});
  check_apart(gate + std::vector{product, node("Mul", {"product", "half"}, {"z"}),
                                 node("Add", {"z", "gate"}, {"y"})});
  check_apart(gate + std::vector{product, node("Mul", {"product", "half"}, {"z"}),
                                 node("Add", {"z", "product"}, {"y"})});
  check_apart(gate + std::vector{node("Mul", {"erf", "gate"}, {"product"}),
                                 node("Mul", {"product", "half"}, {"y"})});
  check_apart({node("Div", {"x", "two"}, {"angle"}), node("Erf", {"angle"}, {"erf"}),
               node("Add", {"erf", "one"}, {"gate"}), product,
               node("Mul", {"product", "half"}, {"y"})});
  check_apart({node("Div", {"x", "root"}, {"angle"}), node("Erf", {"angle"}, {"erf"}),
               node("Add", {"erf", "two"}, {"gate"}), product,
               node("Mul", {"product", "half"}, {"y"})});
}

TEST_CASE("onnx fused: a layer normalization in all its forms is one operator") {
  const std::vector<std::string> one{"MEAN_VARIANCE_NORMALIZATION2"};
  check_joined(Layer{}.nodes(), one);
  check_joined(Layer{.square = node("Mul", {"deviation", "deviation"}, {"square"})}.nodes(), one);
  check_joined(Layer{.product = {"scale", "normalized"}}.nodes(), one);
  check_joined(Layer{.sum = {"shift", "product"}}.nodes(), one);
  for (const std::int64_t axis : {0, 1}) check_joined(Layer{.axis = axis}.nodes(), one);
  std::vector<std::string> nodes = Layer{}.nodes();
  nodes[4] = node("Add", {"epsilon", "variance"}, {"more"});
  check_joined(nodes, one);
  check_joined(Layer{}.nodes(), one, {3, 4});
  check_joined(Layer{}.nodes(), one, {2, 1, 3, 4});
}

TEST_CASE("onnx fused: what is not quite a layer normalization stays") {
  // The means of rows, which columns subtract.
  check_apart(Layer{.keeps_mean = 0}.nodes(), {4, 4});
  check_apart(Layer{.keeps_variance = 0}.nodes(), {4, 4});
  check_apart(Layer{.square = node("Pow", {"deviation", "three"}, {"square"})}.nodes());
  check_apart(Layer{.square = node("Mul", {"deviation", "x"}, {"square"})}.nodes());
  check_apart(Layer{.average = "ReduceSum"}.nodes());
  check_apart(Layer{.deviation = {"mean", "x"}}.nodes());
  check_apart(Layer{.quotient = {"x", "root of variance"}}.nodes());
  check_apart(Layer{.sum = {"product", "mean"}}.nodes());
  check_apart(Layer{.sum = {"product", "deviation"}}.nodes());
  check_apart(Layer{.square = node("Mul", {"deviation", "deviation"}, {"square"}),
                    .sum = {"product", "deviation"}}
                  .nodes());
  check_apart(
      Layer{.square = node("Pow", {"x", "two"}, {"square"}), .sum = {"product", "deviation"}}
          .nodes());
  // The means of something else.
  std::vector<std::string> nodes = Layer{.deviation = {"x", "other mean"}}.nodes();
  nodes[0] = node("Neg", {"x"}, {"other"});
  nodes.insert(nodes.begin() + 1,
               node("ReduceMean", {"other"}, {"other mean"}, {integers("axes", {-1})}));
  check_apart(nodes);
  // A quotient that scales it is no part of it.
  nodes = Layer{.product = {"other", "normalized"}}.nodes();
  nodes.insert(nodes.begin(), node("Div", {"x", "scale"}, {"other"}));
  check_joined(nodes, {"ELEMENT_WISE_DIVIDE", "MEAN_VARIANCE_NORMALIZATION2"});
}

namespace {

/// A model of FLOAT32 that reads x and m and writes y, with constants.
struct ProductModel {
  std::vector<std::string> nodes;
  Sizes x{2, 3, 4, 5};
  Sizes m = {2, 3, 5, 4};
  std::vector<std::string> more_outputs = {};

  OnnxRun run(bool fuses) const {
    const auto texts = [](const Sizes& sizes) {
      std::vector<std::string> all;
      for (const std::uint64_t size : sizes) all.push_back(std::to_string(size));
      return all;
    };
    std::vector<std::string> outputs{value("y", {})};
    for (const std::string& output : more_outputs) outputs.push_back(value(output, {}));
    return run_onnx(
        model({.nodes = nodes,
               .initializers = {scalar("quarter", 0.25F), scalar("four", 4), scalar("zero", 0),
                                scalar("huge", 1e30F), scalar("small", 1e-30F),
                                scalar("tiny", 1e-40F), constant("weights", {5, 4}, 2),
                                constant("four numbers", {4}, 3),
                                constant("one for each row", {4, 1}, 4),
                                constant("mask", {2, 1, 1, 4}, 5),
                                tensor("flat", 7, {2}, raw_integers({6, -1})),
                                tensor("sizes", 7, {4}, raw_integers({2, 3, 4, 5}))},
               .inputs = {value("x", texts(x)), value("m", texts(m))},
               .outputs = outputs}),
        {{"x", some_numbers(x, 9)}, {"m", some_numbers(m, 10)}}, fuses);
  }

  static Names operators_left(const Graph& graph) {
    Names found;
    for (const GraphNode& node : graph.nodes) {
      const auto* operation = std::get_if<GraphOperator>(&node.content);
      if (operation != nullptr) found.push_back(operation->type.substr(13));
    }
    return found;
  }
  Names operators() const { return operators_left(run(true).graph); }

  /// Checks which operators are left, and that they compute nearly the same.
  void check_left(const Names& types) const {
    const OnnxRun fused = run(true), apart = run(false);
    REQUIRE(fused.findings == "");
    REQUIRE(apart.findings == "");
    CHECK(join(operators_left(fused.graph), " ") == join(types, " "));
    REQUIRE(fused.outputs.size() == apart.outputs.size());
    for (std::size_t i = 0; i < apart.outputs.size(); ++i) {
      CHECK(fused.outputs[i].sizes == apart.outputs[i].sizes);
      CHECK(difference(fused.outputs[i], apart.outputs[i]) == "");
    }
  }
  GraphOperator product() const {
    for (const GraphNode& node : run(true).graph.nodes) {
      const auto* operation = std::get_if<GraphOperator>(&node.content);
      if (operation != nullptr && operation->type == "DML_OPERATOR_GEMM") return *operation;
    }
    FAIL("there is no GEMM");
    return {};
  }
};

const std::string product_of_both = node("MatMul", {"x", "m"}, {"product"});
const Names one_product{"GEMM"};

std::string transpose(const std::string& from, const std::string& to,
                      const std::vector<std::int64_t>& order) {
  return node("Transpose", {from}, {to}, {integers("perm", order)});
}

}  // namespace

TEST_CASE("onnx fused: what is added to a product is its C, whatever it repeats") {
  for (const char* added : {"four numbers", "one for each row", "mask", "zero"}) {
    CAPTURE(added);
    for (const Names& terms : {Names{"product", added}, {added, "product"}})
      ProductModel{{product_of_both, node("Add", terms, {"y"})}}.check_left(one_product);
  }
  // Of two products, one adds the other. A third is apart.
  ProductModel{{product_of_both, node("MatMul", {"x", "m"}, {"other"}),
                node("Add", {"product", "other"}, {"y"})}}
      .check_left({"GEMM", "GEMM"});
  ProductModel{{product_of_both, node("Add", {"product", "mask"}, {"more"}),
                node("Add", {"more", "four numbers"}, {"y"})}}
      .check_left({"GEMM", "ELEMENT_WISE_ADD"});
  // Fewer dimensions than the product has.
  ProductModel{{node("MatMul", {"x", "weights"}, {"product"}),
                node("Add", {"product", "four numbers"}, {"sum"}), node("Relu", {"sum"}, {"y"})},
               {7, 5},
               {1}}
      .check_left(one_product);
}

TEST_CASE("onnx fused: a factor is part of the product before it, and of what that adds") {
  for (const Names& factors : {Names{"product", "quarter"}, {"quarter", "product"}})
    ProductModel{{product_of_both, node("Mul", factors, {"y"})}}.check_left(one_product);
  const ProductModel scaled{{product_of_both, node("Div", {"product", "four"}, {"quotient"}),
                             node("Add", {"quotient", "mask"}, {"sum"}),
                             node("Mul", {"sum", "four"}, {"y"})}};
  scaled.check_left(one_product);
  const GraphOperator product = scaled.product();
  CHECK(std::get<float>(product.attributes[2].value) == 1);  // Alpha
  CHECK(std::get<float>(product.attributes[3].value) == 4);  // Beta
  ProductModel{{product_of_both, node("Div", {"four", "product"}, {"y"})}}.check_left(
      {"GEMM", "ELEMENT_WISE_DIVIDE"});
  ProductModel{{product_of_both, node("Mul", {"product", "four numbers"}, {"y"})}}.check_left(
      {"GEMM", "ELEMENT_WISE_MULTIPLY"});
  CHECK(count_of_operators(ProductModel{{product_of_both, node("Div", {"product", "zero"}, {"y"})}}
                               .run(true)
                               .graph) == 2);
}

TEST_CASE("onnx fused: a factor stays if FLOAT32 has too few digits for all of them") {
  const Names apart{"GEMM", "ELEMENT_WISE_MULTIPLY"};
  for (const char* factor : {"huge", "small"}) {
    CAPTURE(factor);
    ProductModel{{product_of_both, node("Mul", {"product", factor}, {"y"})}}.check_left(
        one_product);
    CHECK(ProductModel{{product_of_both, node("Mul", {"product", factor}, {"more"}),
                        node("Mul", {"more", factor}, {"y"})}}
              .operators() == apart);
    // So it is of what the product adds.
    CHECK(ProductModel{{node("Gemm", {"x", "m", "four numbers"}, {"product"},
                             {real("alpha", 1), real("beta", 1e30F)}),
                        node("Mul", {"product", factor}, {"y"})},
                       {4, 5},
                       {5, 4}}
              .operators() == (std::string(factor) == "huge" ? apart : one_product));
  }
  CHECK(ProductModel{{product_of_both, node("Div", {"product", "tiny"}, {"y"})}}.operators() ==
        Names{"GEMM", "ELEMENT_WISE_DIVIDE"});
  ProductModel{{product_of_both, node("Mul", {"product", "zero"}, {"y"})}}.check_left(one_product);
}

TEST_CASE("onnx fused: a product reads its matrices in another order") {
  const std::string product = node("MatMul", {"a", "b"}, {"y"});
  const std::string heads = transpose("x", "a", {0, 2, 1, 3});
  ProductModel{{heads, transpose("m", "b", {0, 1, 3, 2}), product}, {2, 3, 4, 5}, {2, 4, 6, 5}}
      .check_left(one_product);
  ProductModel{{heads, node("Identity", {"a"}, {"a2"}), node("MatMul", {"a2", "m"}, {"y"})},
               {2, 3, 4, 5},
               {2, 4, 5, 1}}
      .check_left(one_product);
  // What others read, too, is copied once for all.
  ProductModel{{heads, node("MatMul", {"a", "m"}, {"product"}),
                node("ReduceSum", {"a"}, {"s"}, {integer("keepdims", 1)}),
                node("Mul", {"product", "s"}, {"y"})},
               {2, 3, 4, 5},
               {2, 4, 5, 1}}
      .check_left({"ELEMENT_WISE_IDENTITY", "GEMM", "REDUCE", "ELEMENT_WISE_MULTIPLY"});
  ProductModel{{heads, node("MatMul", {"a", "m"}, {"y"})}, {2, 3, 4, 5}, {2, 4, 5, 1}, {"a"}}
      .check_left({"ELEMENT_WISE_IDENTITY", "GEMM"});
}

TEST_CASE("onnx fused: products that others read, or behind an activation, stay as they are") {
  ProductModel{{product_of_both, node("Add", {"product", "mask"}, {"sum"}),
                node("Mul", {"sum", "product"}, {"y"})}}
      .check_left({"GEMM", "ELEMENT_WISE_ADD", "ELEMENT_WISE_MULTIPLY"});
  ProductModel{{product_of_both, node("Add", {"product", "mask"}, {"y"})},
               {2, 3, 4, 5},
               {2, 3, 5, 4},
               {"product"}}
      .check_left({"GEMM", "ELEMENT_WISE_ADD"});
  ProductModel{
      {product_of_both, node("Relu", {"product"}, {"r"}), node("Add", {"r", "mask"}, {"y"})}}
      .check_left({"GEMM", "ELEMENT_WISE_ADD"});
  // A product that is repeated by what is added to it.
  ProductModel{
      {node("MatMul", {"x", "m"}, {"row"}), node("Add", {"row", "one for each row"}, {"y"})},
      {1, 5},
      {5, 4}}
      .check_left({"GEMM", "ELEMENT_WISE_ADD"});
}

TEST_CASE("onnx fused: a copy in other sizes is no operator, but for one from input to output") {
  const std::string negative = node("Neg", {"x"}, {"n"});
  const std::string flat = node("Reshape", {"n", "flat"}, {"f"});
  const std::string exp = node("Exp", {"f"}, {"e"});
  const std::string back = node("Reshape", {"e", "sizes"}, {"y"});
  const Names both{"ELEMENT_WISE_NEGATE", "ELEMENT_WISE_EXP"};
  ProductModel{{negative, flat, exp, back}}.check_left(both);
  CHECK(ProductModel{{negative, flat, exp, back}}.run(true).outputs.front().sizes ==
        Sizes{2, 3, 4, 5});
  ProductModel{{negative, flat, node("Reshape", {"f", "sizes"}, {"g"}), node("Exp", {"g"}, {"y"})}}
      .check_left(both);
  // Each output is an edge of its own.
  const Names copied = both + Names{"ELEMENT_WISE_IDENTITY"};
  ProductModel{
      {negative, flat, exp, back, node("Identity", {"e"}, {"z"})}, {2, 3, 4, 5}, {1}, {"z"}}
      .check_left(copied);
  ProductModel{{negative, flat, exp, back}, {2, 3, 4, 5}, {1}, {"e"}}.check_left(copied);
  // Others read what the output is now.
  ProductModel{{negative, flat, exp, node("Sign", {"e"}, {"z"}), back}, {2, 3, 4, 5}, {1}, {"z"}}
      .check_left(both + Names{"ELEMENT_WISE_SIGN"});
  // Strides are no other sizes.
  ProductModel{{transpose("x", "t", {1, 0, 2, 3}), node("Exp", {"t"}, {"y"})}}.check_left(
      {"ELEMENT_WISE_IDENTITY", "ELEMENT_WISE_EXP"});
  ProductModel{{node("Reshape", {"x", "flat"}, {"y"})}}.check_left({"ELEMENT_WISE_IDENTITY"});
}

}  // namespace dmlop::test::onnx_fused_test
