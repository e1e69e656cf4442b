// Operators of ONNX that become several operators of DirectML, or one with other fields than their
// name says: normalizations, activations and quantization in blocks. Compared with plain
// arithmetic.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "onnx_run.hpp"
#include "onnx_writer.hpp"

namespace dmlop::test::onnx_composed_test {
namespace {

using namespace onnx_bytes;

constexpr double epsilon = 1e-3;

std::string written_epsilon() {
  return real("epsilon", static_cast<float>(epsilon));
}

/// x divided by the root of the mean square of its row.
Numbers by_mean_square(const Numbers& x) {
  const std::uint64_t width = x.sizes.back();
  return numbers_at(x.sizes, [&](Sizes place) {
    const double number = at(x, place);
    double sum = 0;
    for (place.back() = 0; place.back() < width; ++place.back()) sum += std::pow(at(x, place), 2);
    return number / std::sqrt(sum / static_cast<double>(width) + epsilon);
  });
}

Numbers times_row(Numbers numbers, const Numbers& row) {
  for (std::size_t i = 0; i < numbers.values.size(); ++i)
    numbers.values[i] *= row.values[i % row.values.size()];
  return numbers;
}

Numbers sum_of(Numbers a, const Numbers& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) a.values[i] += b.values[i % b.values.size()];
  return a;
}

Numbers each(Numbers numbers, double (*function)(double)) {
  for (double& number : numbers.values) number = function(number);
  return numbers;
}

double tanh_gelu(double x) {
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1)) * (x + 0.044715 * x * x * x)));
}

/// Numbers of 4 or 8 bits.
Numbers quantized(const Sizes& sizes, DataType type, std::uint64_t seed) {
  Numbers numbers = some_numbers(sizes, seed);
  numbers.type = type;
  const bool is_signed = type == DataType::Int8;
  for (double& number : numbers.values)
    number = std::floor(std::abs(number) * 30) - (is_signed ? 40 : 0);
  return numbers;
}

}  // namespace

TEST_CASE("onnx composed: RMSNormalization divides by the root of the mean square") {
  for (const Sizes& sizes : {Sizes{3, 5}, Sizes{2, 3, 5}, Sizes{2, 2, 3, 5}}) {
    const Numbers x = some_numbers(sizes), scale = some_numbers({5}, 1);
    const Numbers expected = times_row(by_mean_square(x), scale);
    for (const char* type : {"RMSNormalization", "SimplifiedLayerNormalization"})
      CHECK(difference({type, {x, scale}, {written_epsilon()}, 1, 23}, {expected}) == "");
  }
}

TEST_CASE("onnx composed: a normalization with a skip also gives the sum that it normalizes") {
  const Sizes sizes{2, 3, 5};
  const Numbers x = some_numbers(sizes), skip = some_numbers(sizes, 1),
                scale = some_numbers({5}, 2);
  const Numbers bias = some_numbers({5}, 3);
  for (const bool has_bias : {false, true}) {
    CAPTURE(has_bias);
    const Numbers sum = has_bias ? sum_of(sum_of(x, skip), bias) : sum_of(x, skip);
    std::map<std::string, Numbers> inputs{
        {"x", x}, {"skip", skip}, {"scale", scale}, {"bias", bias}};
    std::vector<std::string> names{"x", "skip", "scale"}, values;
    if (has_bias) names.emplace_back("bias");
    for (const std::string& name : names)
      values.push_back(value(name, name == "x" || name == "skip"
                                       ? std::vector<std::string>{"2", "3", "5"}
                                       : std::vector<std::string>{"5"}));
    if (!has_bias) inputs.erase("bias");
    const auto run = [&](const std::vector<std::string>& outputs) {
      return run_onnx(
          model({.nodes = {microsoft_node("SkipSimplifiedLayerNormalization", names, outputs,
                                          {written_epsilon()})},
                 .inputs = values,
                 .outputs = {value("y", {"a", "b", "c"}), value(outputs.back(), {"a", "b", "c"})},
                 .domain = "com.microsoft"}),
          inputs);
    };
    const OnnxRun made = run({"y", "", "", "sum"});
    REQUIRE(made.findings == "");
    CHECK(difference(made.outputs.at(0), times_row(by_mean_square(sum), scale)) == "");
    CHECK(difference(made.outputs.at(1), sum) == "");
    CHECK(run({"y", "mean"}).findings.find("its outputs mean and inv_std_var are used") !=
          std::string::npos);
  }
}

// Since version 21 each channel has factors of its own, before each group.
TEST_CASE("onnx composed: GroupNormalization normalizes channels in groups") {
  const std::uint64_t channels = 6, groups = 3;
  for (const Sizes& sizes : {Sizes{2, channels, 4, 5}, Sizes{2, channels, 3}}) {
    for (const std::int64_t version : {18, 21}) {
      CAPTURE(version);
      const Numbers x = some_numbers(sizes);
      const Numbers scale = some_numbers({version < 21 ? groups : channels}, 1);
      const Numbers bias = some_numbers({version < 21 ? groups : channels}, 2);
      const std::uint64_t part = x.values.size() / 2 / groups, plane = part / 2;
      Numbers expected = x;
      for (std::size_t i = 0; i < x.values.size(); ++i) {
        const std::size_t first = i / part * part;
        double mean = 0, variance = 0;
        for (std::size_t k = 0; k < part; ++k)
          mean += x.values[first + k] / static_cast<double>(part);
        for (std::size_t k = 0; k < part; ++k)
          variance += std::pow(x.values[first + k] - mean, 2) / static_cast<double>(part);
        const std::size_t factor = version < 21 ? i / part % groups : i / plane % channels;
        expected.values[i] =
            (x.values[i] - mean) / std::sqrt(variance + epsilon) * scale.values[factor] +
            bias.values[factor];
      }
      OneNode node{"GroupNormalization",
                   {x, scale, bias},
                   {integer("num_groups", static_cast<std::int64_t>(groups)), written_epsilon()},
                   1,
                   version};
      CHECK(difference(node, {expected}) == "");
      node.attributes[0] = integer("num_groups", 4);
      CHECK(run_node(node).findings.find("its num_groups is 4, but it has 6 channels") !=
            std::string::npos);
      node.attributes[0] = integer("num_groups", static_cast<std::int64_t>(groups));
      node.version = version == 18 ? 21 : 18;
      CHECK(run_node(node).findings.find("its input 1 \"input1\" has the sizes") !=
            std::string::npos);
    }
  }
}

TEST_CASE("onnx composed: activations that DirectML does not have") {
  const Numbers x = some_numbers({2, 3, 4}), bias = some_numbers({4}, 1);
  CHECK(difference({"Gelu", {x}, {text("approximate", "tanh")}, 1, 20}, {each(x, tanh_gelu)}) ==
        "");
  OneNode fast{"FastGelu", {x}};
  fast.domain = "com.microsoft";
  CHECK(difference(fast, {each(x, tanh_gelu)}) == "");
  fast.inputs.push_back(bias);
  CHECK(difference(fast, {each(sum_of(x, bias), tanh_gelu)}) == "");
  CHECK(difference({"Mish", {x}, {}, 1, 18}, {each(x, [](double number) {
                     return number * std::tanh(std::log1p(std::exp(number)));
                   })}) == "");
}

TEST_CASE("onnx composed: DequantizeLinear and QuantizeLinear have a scale for each block") {
  const Sizes sizes{4, 6};
  for (const std::size_t axis : {std::size_t{0}, std::size_t{1}}) {
    for (const DataType type : {DataType::UInt8, DataType::Int8}) {
      for (const bool has_zero : {false, true}) {
        CAPTURE(axis);
        CAPTURE(has_zero);
        Sizes blocks = sizes;
        blocks[axis] /= 2;
        const Numbers x = quantized(sizes, type, 1), zero = quantized(blocks, type, 2);
        const Numbers scale =
            each(some_numbers(blocks, 3), [](double number) { return std::abs(number) + 0.5; });
        const auto block_of = [&](Sizes place) {
          place[axis] /= 2;
          return place;
        };
        const Numbers expected = numbers_at(sizes, [&](const Sizes& place) {
          const Sizes block = block_of(place);
          return (at(x, place) - (has_zero ? at(zero, block) : 0)) * at(scale, block);
        });
        const std::vector<std::string> attributes{
            integer("axis", static_cast<std::int64_t>(axis) - 2), integer("block_size", 2)};
        OneNode node{"DequantizeLinear", {x, scale}, attributes, 1, 21};
        if (has_zero) node.inputs.push_back(zero);
        CHECK(difference(node, {expected}) == "");
        if (!has_zero) continue;
        CHECK(difference({"QuantizeLinear", {expected, scale, zero}, attributes, 1, 21}, {x}) ==
              "");
      }
    }
  }
}

// Two numbers to a byte, the first one in the lower half.
TEST_CASE("onnx composed: weights of 4 bits have a scale for each block or for each column") {
  const std::string packed = tensor("q", 21, {4, 2}, "\x21\x43\x65\x07");
  const auto run = [&](const std::vector<float>& scales, const std::vector<std::int64_t>& sizes,
                       std::int64_t block) {
    std::vector<std::string> attributes{integer("axis", block != 0 ? 0 : 1)};
    if (block != 0) attributes.push_back(integer("block_size", block));
    return run_onnx(model({.nodes = {node("DequantizeLinear", {"q", "s"}, {"y"}, attributes)},
                           .initializers = {packed, tensor("s", 1, sizes, raw_floats(scales))},
                           .inputs = {},
                           .outputs = {value("y", {"a", "b"})},
                           .version = 21}),
                    {});
  };
  const OnnxRun blocks = run({1, 10, 100, 1000}, {2, 2}, 2);
  REQUIRE(blocks.findings == "");
  CHECK(difference(blocks.outputs.at(0), {{4, 2}, {1, 20, 3, 40, 500, 6000, 700, 0}}) == "");
  const OnnxRun columns = run({1, 10}, {2}, 0);
  REQUIRE(columns.findings == "");
  CHECK(difference(columns.outputs.at(0), {{4, 2}, {1, 20, 3, 40, 5, 60, 7, 0}}) == "");
  CHECK(run({1, 2, 3, 4}, {2, 2}, 3)
            .findings.find("its blocks of 3 do not fill dimension 0, which is 4") !=
        std::string::npos);
  CHECK(run({1, 2}, {1, 2}, 2)
            .findings.find("its input 1 \"s\" [1, 2] does not have one number for each block, of "
                           "sizes [2, 2]") != std::string::npos);
  CHECK(run({1, 2}, {1, 2}, -1).findings.find("its block_size is -1") != std::string::npos);
}

TEST_CASE("onnx composed: one block of a row has one scale, and its axis stays") {
  const Numbers x{{1, 4}, {-2, 0, 3, 5}, DataType::Int8}, scale{{1, 1}, {0.5}};
  const Numbers zero{{1, 1}, {1}, DataType::Int8};
  const std::vector<std::string> attributes{integer("axis", 1), integer("block_size", 4)};
  const Numbers numbers{{1, 4}, {-1.5, -0.5, 1, 2}};
  CHECK(difference({"DequantizeLinear", {x, scale, zero}, attributes, 1, 21}, {numbers}) == "");
  CHECK(difference({"QuantizeLinear", {numbers, scale, zero}, attributes, 1, 21}, {x}) == "");
}

TEST_CASE("onnx composed: weights of 4 bits may be reshaped before they are read") {
  // 3 columns of 2 blocks of 16 weights, which are all 9: 1 without the middle, 8.
  const std::string weights = tensor("flat", 2, {48}, std::string(48, '\x99'));
  const std::string shape = tensor("shape", 7, {3}, raw_integers({3, 2, 8}));
  const std::string scales = tensor("scales", 1, {6}, raw_floats({1, 2, 3, 4, 5, 6}));
  const auto run =
      run_onnx(model({.nodes = {node("Reshape", {"flat", "shape"}, {"packed"}),
                                microsoft_node("MatMulNBits", {"x", "packed", "scales"}, {"y"},
                                               {integer("K", 32), integer("N", 3),
                                                integer("bits", 4), integer("block_size", 16)})},
                      .initializers = {weights, shape, scales},
                      .inputs = {value("x", {"1", "32"})},
                      .outputs = {value("y", {"1", "3"})},
                      .domain = "com.microsoft"}),
               {{"x", {{1, 32}, std::vector<double>(32, 1)}}});
  REQUIRE(run.findings == "");
  CHECK(difference(run.outputs.at(0), {{1, 3}, {16 + 32, 48 + 64, 80 + 96}}) == "");
}

TEST_CASE("onnx composed: sizes may follow from thousands of known numbers") {
  std::vector<std::int64_t> numbers(3000, 1);
  numbers[2000] = 4;
  const auto run =
      run_onnx(model({.nodes = {node("ReduceMax", {"numbers"}, {"size"}, {integer("keepdims", 1)}),
                                node("Expand", {"x", "size"}, {"y"})},
                      .initializers = {tensor("numbers", 7, {3000}, raw_integers(numbers))},
                      .inputs = {value("x", {"1"})},
                      .outputs = {value("y", {"4"})},
                      .version = 13}),
               {{"x", {{1}, {2}}}});
  REQUIRE(run.findings == "");
  CHECK(difference(run.outputs.at(0), {{4}, {2, 2, 2, 2}}) == "");
}

TEST_CASE("onnx composed: 16 bits become floats, but no floats become 16 bits") {
  const Numbers scale{{}, {0.5}}, zero{{}, {100}, DataType::UInt16};
  const Numbers wide{{3}, {1, 200, 300}, DataType::UInt16}, floats{{3}, {-49.5, 50, 100}};
  CHECK(difference({"DequantizeLinear", {wide, scale, zero}, {}, 1, 21}, {floats}) == "");
  const std::string findings =
      run_node({"QuantizeLinear", {floats, scale, zero}, {}, 1, 21}).findings;
  CHECK_MESSAGE(findings.find("it quantizes to UINT16") != std::string::npos, findings);
}

namespace {

/// A quantized tensor with its scale and zero point, as ONNX Runtime's operators take it.
struct Quantized {
  Numbers numbers, scale, zero;

  double at(const Sizes& place) const {
    return (test::at(numbers, place) - zero.values[0]) * scale.values[0];
  }
};

Quantized quantized_by(const Sizes& sizes, std::uint64_t seed, double scale, double zero) {
  return {quantized(sizes, DataType::UInt8, seed), {{}, {scale}}, {{}, {zero}, DataType::UInt8}};
}

double rounded(double number, double scale, double zero) {
  return std::clamp(std::nearbyint(number / scale) + zero, 0.0, 255.0);
}

OneNode microsoft(const std::string& type, const std::vector<Numbers>& inputs,
                  const std::vector<std::string>& attributes = {}) {
  OneNode node{type, inputs, attributes};
  node.domain = "com.microsoft";
  return node;
}

}  // namespace

TEST_CASE("onnx composed: operators of ONNX Runtime on quantized tensors") {
  const Quantized a = quantized_by({2, 3, 4, 5}, 1, 0.25, 40),
                  b = quantized_by({3, 1, 5}, 2, 0.5, 3);
  const Numbers scale{{}, {2}}, zero{{}, {11}, DataType::UInt8};
  CHECK(difference(microsoft("QLinearAdd",
                             {a.numbers, a.scale, a.zero, b.numbers, b.scale, b.zero, scale, zero}),
                   {numbers_at({2, 3, 4, 5}, [&](const Sizes& place) {
                     return rounded(a.at(place) + b.at({place[1], 0, place[3]}), 2, 11);
                   })}) == "");
  const Numbers small{{}, {0.0625}};
  CHECK(difference(microsoft("QLinearSigmoid", {a.numbers, a.scale, a.zero, small, zero}),
                   {numbers_at({2, 3, 4, 5}, [&](const Sizes& place) {
                     return rounded(1 / (1 + std::exp(-a.at(place))), 0.0625, 11);
                   })}) == "");
  // A scale is that of the whole tensor.
  const std::string findings =
      run_node(microsoft("QLinearSigmoid", {a.numbers, {{2}, {1, 2}}, a.zero, small, zero}))
          .findings;
  CHECK_MESSAGE(findings.find("its input 1 \"input1\" [2] is not one number") != std::string::npos,
                findings);
  const auto sum = [&](const Sizes& place, const Sizes& window) {
    double total = 0;
    for (const Sizes& step : places_of(window))
      total += a.at({place[0], place[1], place[2] + step[0], place[3] + step[1]});
    return total;
  };
  CHECK(difference(microsoft("QLinearGlobalAveragePool", {a.numbers, a.scale, a.zero, scale, zero}),
                   {numbers_at({2, 3, 1, 1}, [&](const Sizes& place) {
                     return rounded(sum(place, {4, 5}) / 20, 2, 11);
                   })}) == "");
  const std::string window = integers("kernel_shape", {2, 4});
  CHECK(difference(
            microsoft("QLinearAveragePool", {a.numbers, a.scale, a.zero, scale, zero}, {window}),
            {numbers_at({2, 3, 3, 2}, [&](const Sizes& place) {
              return rounded(sum(place, {2, 4}) / 8, 2, 11);
            })}) == "");
  // Rounded up, a window of 4 of 5 columns that moves by 3 would be partly beside them; one that
  // moves by 1 is not.
  const auto rounded_up = [&](std::int64_t stride) {
    return run_node(microsoft("QLinearAveragePool", {a.numbers, a.scale, a.zero, scale, zero},
                              {window, integers("strides", {1, stride}), integer("ceil_mode", 1)}))
        .findings;
  };
  CHECK(rounded_up(1) == "");
  CHECK(rounded_up(3).find("its ceil_mode adds a window that is not full") != std::string::npos);
  const std::string last = integer("channels_last", 1);
  for (const char* type : {"QLinearAveragePool", "QLinearGlobalAveragePool"})
    CHECK(run_node(microsoft(type, {a.numbers, a.scale, a.zero, scale, zero}, {window, last}))
              .findings.find("its channels come last") != std::string::npos);
}

TEST_CASE("onnx composed: quantized parts with scales of their own become one") {
  const Quantized a = quantized_by({2, 3, 2}, 1, 0.25, 40), b = quantized_by({2, 1, 2}, 2, 0.5, 3);
  const Numbers scale{{}, {2}}, zero{{}, {11}, DataType::UInt8};
  const std::vector<Numbers> inputs{scale,  zero,      a.numbers, a.scale,
                                    a.zero, b.numbers, b.scale,   b.zero};
  CHECK(difference(
            microsoft("QLinearConcat", inputs, {integer("axis", 1)}),
            {numbers_at({2, 4, 2}, [&](const Sizes& place) {
              return rounded(place[1] < 3 ? a.at(place) : b.at({place[0], 0, place[2]}), 2, 11);
            })}) == "");
  CHECK(run_node(microsoft("QLinearConcat", inputs, {integer("axis", 0)}))
            .findings.find("do not fit together along axis 0") != std::string::npos);
  CHECK(
      run_node(microsoft("QLinearConcat", {scale, zero, a.numbers, a.scale}, {integer("axis", 0)}))
          .findings.find("must have a scale and a zero point, and three inputs for each part") !=
      std::string::npos);
}

// What PyTorch writes for a mask of constants.
TEST_CASE("onnx composed: NonZero gives places, if its input is known") {
  const Numbers x{{2, 3}, {0, 5, 0, -1, 0, 2}};
  CHECK(difference({"NonZero", {x}}, {{{2, 3}, {0, 1, 1, 1, 0, 2}}}) == "");
  const std::string findings =
      run_onnx(
          model({.nodes = {node("NonZero", {"x"}, {"y"})}, .outputs = {value("y", {"a", "b"})}}),
          {})
          .findings;
  CHECK_MESSAGE(
      findings.find("its input 0 \"x\" must be known before anything runs") != std::string::npos,
      findings);
}

TEST_CASE("onnx composed: Swish and QuickGelu weigh each number by the sigmoid of it") {
  const Numbers x = some_numbers({3, 5});
  const auto expected = [&](double alpha) {
    Numbers numbers = x;
    for (double& number : numbers.values) number /= 1 + std::exp(-alpha * number);
    return numbers;
  };
  const std::string alpha = real("alpha", 0.75F);
  CHECK(difference({"Swish", {x}, {}, 1, 24}, {expected(1)}) == "");
  CHECK(difference({"Swish", {x}, {alpha}, 1, 24}, {expected(0.75)}) == "");
  CHECK(difference({"QuickGelu", {x}, {}, 1, 17, "com.microsoft"}, {expected(1.702)}) == "");
  CHECK(difference({"QuickGelu", {x}, {alpha}, 1, 17, "com.microsoft"}, {expected(0.75)}) == "");
  check_refused({"Swish", {x}, {}, 1, 23}, "it is there from version 24 on");
}

TEST_CASE("onnx composed: ConstantOfShape may make more than is made while a model is read") {
  const std::vector<std::int64_t> sizes{4097, 4096};  // just above 2^24 elements
  const std::string three = part(1, "value") + part(5, tensor("", 7, {1}, raw_integers({3})));
  const OnnxRun run = run_onnx(
      model({.nodes = {node("ConstantOfShape", {"sizes"}, {"all"}, {three + number(20, 4)}),
                       node("Slice", {"all", "starts", "ends"}, {"y"})},
             .initializers = {tensor("sizes", 7, {2}, raw_integers(sizes)),
                              tensor("starts", 7, {2}, raw_integers({4096, 4094})),
                              tensor("ends", 7, {2}, raw_integers({4097, 4096}))},
             .inputs = {},
             .outputs = {value("y", {"1", "2"}, 7)}}),
      {});
  REQUIRE(run.findings == "");
  CHECK(difference(run.outputs.at(0), {{1, 2}, {3, 3}, DataType::Int64}) == "");
}

TEST_CASE("onnx composed: ConstantOfShape repeats one element, of any type with whole bytes") {
  const auto filled = [](const std::string& one, std::int64_t rows, std::int64_t type) {
    return run_onnx(model({.nodes = {node("ConstantOfShape", {"sizes"}, {"all"},
                                          {part(1, "value") + part(5, one) + number(20, 4)}),
                                     node("Slice", {"all", "starts", "ends"}, {"y"})},
                           .initializers = {tensor("sizes", 7, {2}, raw_integers({rows, 4096})),
                                            tensor("starts", 7, {2}, raw_integers({0, 0})),
                                            tensor("ends", 7, {2}, raw_integers({1, 2}))},
                           .inputs = {},
                           .outputs = {value("y", {"1", "2"}, type)}}),
                    {});
  };
  for (const std::int64_t rows : {2, 4096, 4097}) {
    CAPTURE(rows);
    const OnnxRun run = filled(tensor("", 9, {1}, "\1"), rows, 9);
    REQUIRE(run.findings == "");
    CHECK(difference(run.outputs.at(0), {{1, 2}, {1, 1}, DataType::UInt8}) == "");
    CHECK(run.graph.warnings.empty());  // it is BOOL, as its output says
    const bool is_filled = std::ranges::any_of(run.graph.nodes, [](const GraphNode& made) {
      const auto* content = std::get_if<GraphOperator>(&made.content);
      return content != nullptr && content->type == "DML_OPERATOR_FILL_VALUE_CONSTANT";
    });
    CHECK(is_filled == (rows > 4096));  // what has 2^24 elements is still made at once
    CHECK(filled(tensor("", 9, {2}, "\1\1"), rows, 9)
              .findings.find("its value must be one element") != std::string::npos);
    CHECK(filled(tensor("", 22, {1}, "\1"), rows, 22)  // INT4
              .findings.find("its value must be one element") != std::string::npos);
  }
}

}  // namespace dmlop::test::onnx_composed_test
