// Operators of com.microsoft, which ONNX Runtime's optimizer and exporters make.
#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "base/text.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

void map_bias_gelu(Mapping& node) {
  const View from = node.view(0);
  const View bias = node.view(1);
  const View to = padded(node.output(0, from.type, node.in(0).sizes));
  node.add(DmlOperator("ELEMENT_WISE_ADD1")
               .input("ATensor", padded(from))
               .input("BTensor", padded(broadcast(bias, node.in(0).sizes)))
               .output("OutputTensor", to)
               .fused("ACTIVATION_GELU"));
}

void map_quick_gelu(Mapping& node) {
  const View from = node.view(0);
  const Sizes& sizes = node.in(0).sizes;
  const float alpha = node.real("alpha", 1.702F);
  View scaled = from;
  if (alpha != 1) {
    scaled = node.temporary(from.type, sizes);
    node.add(DmlOperator("ELEMENT_WISE_IDENTITY")
                 .input("InputTensor", padded(from))
                 .output("OutputTensor", padded(scaled))
                 .set("ScaleBias", GraphScaleBias{alpha, 0}));
  }
  const View gate = node.temporary(from.type, sizes);
  node.add_unary("ACTIVATION_SIGMOID", scaled, gate);
  node.add_binary("ELEMENT_WISE_MULTIPLY", from, gate, node.output(0, from.type, sizes));
}

/// SkipSimplifiedLayerNormalization has no mean and no shift; its bias is one input before.
void map_skip_layer_normalization(Mapping& node) {
  if (node.wants(1) || node.wants(2))
    Mapping::refuse("its outputs mean and inv_std_var are used",
                    "the provider makes the first output and the sum only");
  const bool is_simplified =
      std::string_view(node.row().name) == "SkipSimplifiedLayerNormalization";
  const std::size_t bias = is_simplified ? 3 : 4;
  const Value& value = node.in(0);
  if (node.in(1).sizes != value.sizes) Mapping::refuse("its skip has other sizes than its input");
  const std::size_t dimensions = value.sizes.size();
  if (dimensions < 2 || dimensions > 3)
    Mapping::refuse_invalid("its input must have 2 or 3 dimensions");
  const View from = padded_behind(node.view(0));
  const auto factors = [&](std::size_t input) {
    return padded_behind(padded(node.view(input), dimensions));
  };
  const View total = node.wants(3) ? padded_behind(node.output(3, value, value.sizes))
                                   : node.temporary(value.type, from.sizes);
  View sum = node.has(bias) ? node.temporary(value.type, from.sizes) : total;
  node.add(DmlOperator("ELEMENT_WISE_ADD")
               .input("ATensor", from)
               .input("BTensor", padded_behind(node.view(1)))
               .output("OutputTensor", sum));
  if (node.has(bias)) {
    node.add(DmlOperator("ELEMENT_WISE_ADD")
                 .input("ATensor", sum)
                 .input("BTensor", broadcast(factors(bias), from.sizes))
                 .output("OutputTensor", total));
    sum = total;
  }
  DmlOperator operation("MEAN_VARIANCE_NORMALIZATION2");
  operation.input("InputTensor", sum).input("ScaleTensor", factors(2));
  if (!is_simplified && node.has(3)) operation.input("BiasTensor", factors(3));
  std::vector<std::uint64_t> axes;
  for (std::size_t i = dimensions - 1; i < 4; ++i) axes.push_back(i);
  node.add(operation.output("OutputTensor", padded_behind(node.output(0, value, value.sizes)))
               .counts("Axes", axes)
               .flag("UseMean", !is_simplified)
               .flag("UseVariance", true)
               .set("Epsilon", node.real("epsilon", 1e-12F)));
}

std::uint64_t required_count(const Mapping& node, const char* name) {
  const std::int64_t number = node.required_integer(name);
  if (number < 1 || number > 0x7FFFFFFF)
    Mapping::refuse_invalid("its " + std::string(name) + " is " + std::to_string(number));
  return static_cast<std::uint64_t>(number);
}

void require_elements(const Value& value, const char* what, std::uint64_t count) {
  if (element_count(value.sizes) == count) return;
  Mapping::refuse_invalid("its " + std::string(what) + " have the sizes " + list_of(value.sizes),
                          "K, N and block_size make them " + std::to_string(count) + " elements");
}

void map_matmul_n_bits(Mapping& node) {
  const std::uint64_t k = required_count(node, "K"), n = required_count(node, "N");
  const std::uint64_t block = required_count(node, "block_size");
  if (required_count(node, "bits") != 4) Mapping::refuse("its bits are not 4");
  if (node.has(4) || node.has(5)) Mapping::refuse("it has g_idx or a bias");
  const Value& value = node.in(0);
  if (value.sizes.empty() || value.sizes.back() != k)
    Mapping::refuse_invalid(
        "its K is " + std::to_string(k) + ", but its input has the sizes " + list_of(value.sizes),
        "the last dimension of the input is K");
  constexpr std::uint64_t smallest_block = 16;
  if (!std::has_single_bit(block) || block < smallest_block)
    Mapping::refuse_invalid("its block_size is " + std::to_string(block),
                            "block_size is a power of two from 16 on");
  const std::uint64_t blocks = (k + block - 1) / block;
  const Sizes padded_sizes{n, blocks * block};  // the last block of each row may be filled up
  if (node.in(1).type != DataType::UInt8)
    Mapping::refuse_invalid("its weights are not UINT8", "a byte has two weights");
  require_elements(node.in(1), "weights", n * blocks * block / 2);
  require_elements(node.in(2), "scales", n * blocks);
  View weights = node.view(1);
  weights.type = DataType::UInt4;
  weights.sizes = padded_sizes;
  const View scales = reshaped(node.view(2), {n, blocks});
  std::vector<View> tensors{scales};
  if (node.has(3)) {
    View zero = node.view(3);
    if (zero.type != DataType::UInt8)
      Mapping::refuse("its zero points are " + std::string(name_of(zero.type)),
                      "DirectML's have the type of the weights, UINT4");
    require_elements(node.in(3), "zero points", n * ((blocks + 1) / 2));
    zero.type = DataType::UInt4;
    zero.sizes = {n, blocks};
    // Each row begins with a byte of its own.
    if (blocks % 2 != 0) zero.strides = {blocks + 1, 1};
    tensors.push_back(zero);
  }
  const View matrix = node.temporary(value.type, padded_sizes);
  node.add(DmlOperator("DEQUANTIZE")
               .input("InputTensor", weights)
               .choose("QuantizationType", tensors.size() == 1 ? "SCALE" : "SCALE_ZERO_POINT")
               .inputs("QuantizationTensors", tensors)
               .output("OutputTensor", matrix));
  Sizes sizes = value.sizes;
  sizes.back() = n;
  const std::uint64_t rows = element_count(value.sizes).value_or(0) / k;
  const View from = node.view(0);
  node.add(DmlOperator("GEMM")
               .input("ATensor", reshaped(from, {rows, k}))
               .input("BTensor", cropped(matrix, {n, k}))
               .output("OutputTensor", reshaped(node.output(0, value, sizes), {rows, n}))
               .choose("TransA", "NONE")
               .choose("TransB", "TRANSPOSE")
               .set("Alpha", 1.0F)
               .set("Beta", 0.0F));
}

void map_attention(Mapping& node) {
  for (std::size_t i = 4; i < node.input_count(); ++i) {
    if (node.has(i)) Mapping::refuse("it has a mask, a bias of attention or a past");
  }
  if (node.wants(1) || node.wants(2)) Mapping::refuse("it has more than one output");
  if (node.integer("unidirectional", 0) != 0) Mapping::refuse("it is unidirectional");
  const Sizes& query = node.in(0).sizes;
  if (!node.has(1) || !node.has(2) || query.size() != 3 || node.in(1).sizes.size() != 3 ||
      node.in(2).sizes.size() != 3)
    Mapping::refuse("its query, key and value are not apart, with 3 dimensions each");
  const std::uint64_t heads = required_count(node, "num_heads");
  if (query[2] % heads != 0) Mapping::refuse_invalid("its num_heads does not fit its query");
  const auto size = static_cast<float>(query[2] / heads);
  const float scale = node.real("scale", 0);
  const View first = node.view(0), second = node.view(1), third = node.view(2);
  DmlOperator operation("MULTIHEAD_ATTENTION");
  operation.input("QueryTensor", first).input("KeyTensor", second).input("ValueTensor", third);
  if (node.has(3)) operation.input("BiasTensor", node.view(3));
  node.add(operation
               .output("OutputTensor",
                       node.output(0, node.in(0), {query[0], query[1], node.in(2).sizes[2]}))
               .set("Scale", scale != 0 ? scale : 1 / std::sqrt(size))
               .set("MaskFilterValue", node.real("mask_filter_value", -10000))
               .count("HeadCount", heads)
               .choose("MaskType", "NONE"));
}

constexpr OnnxOperator contrib_table[]{
    {"BiasGelu", microsoft, "ELEMENT_WISE_ADD1 with ACTIVATION_GELU", map_bias_gelu},
    {"QuickGelu", microsoft, "ELEMENT_WISE_IDENTITY, ACTIVATION_SIGMOID, ELEMENT_WISE_MULTIPLY",
     map_quick_gelu},
    {"SkipLayerNormalization", microsoft, "ELEMENT_WISE_ADD, MEAN_VARIANCE_NORMALIZATION2",
     map_skip_layer_normalization},
    {"SkipSimplifiedLayerNormalization", microsoft,
     "ELEMENT_WISE_ADD, MEAN_VARIANCE_NORMALIZATION2", map_skip_layer_normalization},
    {"MatMulNBits", microsoft, "DEQUANTIZE and GEMM", map_matmul_n_bits},
    {"MultiHeadAttention", microsoft, "MULTIHEAD_ATTENTION", map_attention},
};

}  // namespace

std::span<const OnnxOperator> contrib_rows() {
  return contrib_table;
}

}  // namespace dmlop::onnx
