// Operators of com.microsoft, which ONNX Runtime's optimizer and exporters make.
#include <algorithm>
#include <bit>
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

/// x * sigmoid(alpha * x): QuickGelu, and Swish of ONNX, which differ in the usual alpha.
void map_swish(Mapping& node) {
  const View from = node.view(0);
  const Sizes& sizes = node.in(0).sizes;
  const bool is_swish = std::string_view(node.row().name) == "Swish";
  const float alpha = node.real("alpha", is_swish ? 1 : 1.702F);
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

void require_elements(const Value& value, const char* what, std::uint64_t count) {
  if (element_count(value.sizes) == count) return;
  Mapping::refuse_invalid("its " + std::string(what) + " have the sizes " + list_of(value.sizes),
                          "K, N and block_size make them " + std::to_string(count) + " elements");
}

void map_matmul_n_bits(Mapping& node) {
  const std::uint64_t k = node.required_count("K"), n = node.required_count("N");
  const std::uint64_t block = node.required_count("block_size");
  if (node.integer("bits", 4) != 4) Mapping::refuse("its bits are not 4");
  if (node.integer("weight_prepacked", 0) != 0) Mapping::refuse("its weights are prepacked");
  node.ignore({"accuracy_level"});  // a device computes as it does
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

/// The embeddings of the positions of all words, {batch, words, size}.
View position_embeddings(Mapping& node, const Sizes& words) {
  const View table = node.view(3);
  const Sizes all{words[0], words[1], table.sizes.back()};
  if (node.has(8)) {
    const View places = node.view(8);
    if (places.sizes != words && places.sizes != Sizes{1, words[1]})
      Mapping::refuse_invalid("its position_ids have the sizes " + list_of(places.sizes),
                              "there is one for each word " + list_of(words));
    return broadcast(node.rows_of(table, places), all);
  }
  if (table.sizes[0] < words[1])
    Mapping::refuse_invalid("its position_embedding has the sizes " + list_of(table.sizes),
                            "there is one for each of " + std::to_string(words[1]) + " words");
  return broadcast(cropped(table, {words[1], table.sizes[1]}), all);
}

/// How many places of each sequence's mask are 1.
void add_mask_index(Mapping& node, const Sizes& words) {
  if (!node.wants(1)) return;
  if (!node.has(7))
    return node.constant_output(1,
                                new_data(DataType::Int32, {words[0]},
                                         std::vector<std::byte>(words[0] * sizeof(std::int32_t))));
  const View mask = node.view(7);
  Mapping::require_sizes("mask", mask.sizes, words, "there is one number for each word");
  View counts = node.temporary(DataType::UInt32, words);
  node.add_binary("ELEMENT_WISE_LOGICAL_EQUALS", mask, node.constant_number(mask.type, 1), counts);
  counts.type = DataType::Int32;
  const View to = node.output(1, DataType::Int32, {words[0]});
  node.add(DmlOperator("REDUCE")
               .choose("Function", "SUM")
               .input("InputTensor", padded(counts))
               .output("OutputTensor", reshaped(to, {1, 1, words[0], 1}))
               .counts("Axes", {3}));
}

void map_embedding(Mapping& node) {
  node.ignore({"mask_index_type"});  // that the output is read says as much
  node.ignore_input(7);              // the mask, of that output
  const View words = node.view(0);
  if (words.sizes.size() != 2)
    Mapping::refuse_invalid("its input_ids have the sizes " + list_of(words.sizes),
                            "they are {batch, words}");
  for (const std::size_t table : {2U, 3U, 4U}) {
    const bool is_needed = table != 4 || node.has(4);
    if (is_needed &&
        (node.in(table).sizes.size() != 2 || node.in(table).sizes[1] != node.in(2).sizes.back()))
      Mapping::refuse_invalid("its embeddings have the sizes " + list_of(node.in(2).sizes) +
                                  " and " + list_of(node.in(table).sizes),
                              "each is {rows, size}, of one size");
  }
  const Sizes all{words.sizes[0], words.sizes[1], node.in(2).sizes[1]};
  const View embedded = node.rows_of(node.view(2), words);
  const View positions = position_embeddings(node, words.sizes);
  const bool has_segments = node.has(4);
  if (node.has(1) && !has_segments)
    Mapping::refuse_invalid("it has segment_ids, but no segment_embedding",
                            "segments are rows of that table");
  const View total =
      node.wants(2) ? node.output(2, node.in(2), all) : node.temporary(embedded.type, all);
  const View sum = has_segments ? node.temporary(embedded.type, all) : total;
  node.add_binary("ELEMENT_WISE_ADD", embedded, positions, sum);
  if (has_segments) {
    const View segments = node.view(1);
    Mapping::require_sizes("segment_ids", segments.sizes, words.sizes,
                           "there is one for each word");
    node.add_binary("ELEMENT_WISE_ADD", sum, node.rows_of(node.view(4), segments), total);
  }
  const View to = node.output(0, node.in(2), all);
  node.add(DmlOperator("MEAN_VARIANCE_NORMALIZATION1")
               .input("InputTensor", padded(total))
               .input("ScaleTensor", padded(node.view(5)))
               .input("BiasTensor", padded(node.view(6)))
               .output("OutputTensor", padded(to))
               .counts("Axes", {3})
               .flag("NormalizeVariance", true)
               .set("Epsilon", node.real("epsilon", 1e-12F)));
  add_mask_index(node, words.sizes);
}

/// Groups of channels are normalized, which stand last or second. Its activation is x * sigmoid(x).
void map_group_norm(Mapping& node) {
  const Value& value = node.in(0);
  if (value.sizes.size() != 4)
    Mapping::refuse_invalid("its input has " + counted(value.sizes.size(), "dimension"),
                            "it is an image of 4");
  const bool is_last = node.integer("channels_last", 1) != 0;
  const std::uint64_t channels = value.sizes[is_last ? 3 : 1], batch = value.sizes[0];
  const std::uint64_t groups = node.required_count("groups");
  if (channels % groups != 0)
    Mapping::refuse_invalid(
        "its " + counted(channels, "channel") + " have no " + counted(groups, "equal group"),
        "channels come in groups of the same size");
  const std::uint64_t part = channels / groups;
  const std::uint64_t places = value.sizes[2] * value.sizes[is_last ? 1 : 3];
  const Strides strides = is_last ? Strides{channels * places, 1, channels, part}
                                  : Strides{channels * places, places, 1, places * part};
  const auto in_groups = [&](View view) {
    view.sizes = {batch, part, places, groups};
    view.strides = strides;
    return view;
  };
  const auto factor = [&](std::size_t input, const char* name) {
    View view = node.converted(node.view(input), value.type);
    Mapping::require_sizes(name, view.sizes, {channels}, "there is one for each channel");
    view.sizes = {batch, part, places, groups};
    view.strides = {0, 1, 0, part};
    return view;
  };
  const View to = node.output(0, value, value.sizes);
  const std::int64_t activation = node.required_integer("activation");
  if (activation != 0 && activation != 1)
    Mapping::refuse_invalid("its activation is " + std::to_string(activation),
                            "0 is none, and 1 is x * sigmoid(x)");
  // Its elements lie in the order of the input, but the last operator must write them in that
  // order.
  const View made = node.temporary(value.type, value.sizes);
  node.add(DmlOperator("MEAN_VARIANCE_NORMALIZATION1")
               .input("InputTensor", in_groups(node.view(0)))
               .input("ScaleTensor", factor(1, "gamma"))
               .input("BiasTensor", factor(2, "beta"))
               .output("OutputTensor", in_groups(made))
               .counts("Axes", {1, 2})
               .flag("NormalizeVariance", true)
               .set("Epsilon", node.real("epsilon", 1e-5F)));
  if (activation == 0) return node.add_unary("ELEMENT_WISE_IDENTITY", made, to);
  const View gate = node.temporary(value.type, value.sizes);
  node.add_unary("ACTIVATION_SIGMOID", made, gate);
  node.add_binary("ELEMENT_WISE_MULTIPLY", made, gate, to);
}

void map_bias_add(Mapping& node) {
  const Sizes& sizes = node.in(0).sizes;
  Mapping::require_sizes("bias", node.in(1).sizes, {sizes.empty() ? 1 : sizes.back()},
                         "there is one for each channel");
  Mapping::require_sizes("skip", node.in(2).sizes, sizes, "it has the sizes of the input");
  const View from = node.view(0);
  const View sum = node.temporary(from.type, sizes);
  node.add_binary("ELEMENT_WISE_ADD", from, node.view(1), sum);
  node.add_binary("ELEMENT_WISE_ADD", sum, node.view(2), node.output(0, node.in(0), sizes));
}

/// The left half of the sum with the bias, times the GELU of the right half.
void map_bias_split_gelu(Mapping& node) {
  const Value& value = node.in(0);
  if (value.sizes.size() != 3 || value.sizes[2] % 2 != 0)
    Mapping::refuse_invalid("its input has the sizes " + list_of(value.sizes),
                            "it is {batch, rows, two equal halves}");
  Mapping::require_sizes("bias", node.in(1).sizes, {value.sizes[2]},
                         "there is one for each channel");
  Sizes half = value.sizes;
  half[2] /= 2;
  const View from = node.view(0);
  const View sum = node.temporary(value.type, value.sizes);
  const View left = node.temporary(value.type, half), right = node.temporary(value.type, half);
  const View gate = node.temporary(value.type, half);
  node.add_binary("ELEMENT_WISE_ADD", from, node.view(1), sum);
  node.add(DmlOperator("SPLIT")
               .input("InputTensor", padded(sum))
               .outputs("OutputTensors", {padded(left), padded(right)})
               .count("Axis", 3));
  node.add_unary("ACTIVATION_GELU", right, gate);
  node.add_binary("ELEMENT_WISE_MULTIPLY", left, gate, node.output(0, value, half));
}

constexpr OnnxOperator contrib_table[]{
    {"BiasGelu", microsoft, "ELEMENT_WISE_ADD1 with ACTIVATION_GELU", map_bias_gelu},
    {"QuickGelu", microsoft, "ELEMENT_WISE_IDENTITY, ACTIVATION_SIGMOID, ELEMENT_WISE_MULTIPLY",
     map_swish},
    {"Swish", "", "ELEMENT_WISE_IDENTITY, ACTIVATION_SIGMOID, ELEMENT_WISE_MULTIPLY", map_swish},
    {"SkipLayerNormalization", microsoft, "ELEMENT_WISE_ADD, MEAN_VARIANCE_NORMALIZATION2",
     map_skip_layer_normalization},
    {"SkipSimplifiedLayerNormalization", microsoft,
     "ELEMENT_WISE_ADD, MEAN_VARIANCE_NORMALIZATION2", map_skip_layer_normalization},
    {"MatMulNBits", microsoft, "DEQUANTIZE and GEMM", map_matmul_n_bits},
    {"EmbedLayerNormalization", microsoft, "GATHER, ELEMENT_WISE_ADD, MEAN_VARIANCE_NORMALIZATION1",
     map_embedding},
    {"GroupNorm", microsoft, "MEAN_VARIANCE_NORMALIZATION1, ACTIVATION_SIGMOID", map_group_norm},
    {"BiasAdd", microsoft, "ELEMENT_WISE_ADD", map_bias_add},
    {"BiasSplitGelu", microsoft, "ELEMENT_WISE_ADD, SPLIT, ACTIVATION_GELU, ELEMENT_WISE_MULTIPLY",
     map_bias_split_gelu},
};

}  // namespace

std::span<const OnnxOperator> contrib_rows() {
  return contrib_table;
}

}  // namespace dmlop::onnx
