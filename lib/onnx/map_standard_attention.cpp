// Attention of ONNX itself, which has several heads of queries for each of the keys, too. ONNX
// Runtime replaces it by the nodes of its function; here it is one operator.
#include <limits>
#include <optional>

#include "base/text.hpp"
#include "onnx/attention.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {
namespace {

constexpr double never = -std::numeric_limits<double>::infinity();

/// Queries, keys or values {batch, rows, heads * size}, which may be given as {batch, heads, rows,
/// size}. Then the heads are known.
struct SideBySide {
  View view;
  std::uint64_t heads = 0, size = 0;
};

SideBySide side_by_side(Mapping& node, std::size_t input, const char* name, const char* heads) {
  const View given = node.view(input);
  if (given.sizes.size() == 4) {
    const std::int64_t written = node.integer(heads, 0);
    if (written != 0 && static_cast<std::uint64_t>(written) != given.sizes[1])
      Mapping::refuse_invalid("its " + std::string(heads) + " is " + std::to_string(written) +
                                  ", but its " + name + " has the sizes " + list_of(given.sizes),
                              "the second size counts the heads");
    return {heads_side_by_side(node, given), given.sizes[1], given.sizes[3]};
  }
  if (given.sizes.size() != 3)
    Mapping::refuse_invalid("its " + std::string(name) + " has the sizes " + list_of(given.sizes),
                            "it is {batch, rows, heads * size} or {batch, heads, rows, size}");
  const std::uint64_t count = node.required_count(heads);
  return {given, count, size_of_heads(name, given.sizes[2], count)};
}

/// 0 where a query may see a key, and minus infinity for keys behind the query's place.
View causal_bias(Mapping& node, DataType type, const AttentionSizes& sizes) {
  const Sizes places{1, 1, sizes.queries, sizes.keys};
  const View bias = node.temporary(type, places);
  node.add(DmlOperator("DIAGONAL_MATRIX1")
               .input("InputTensor", broadcast(node.constant_number(type, never), places))
               .output("OutputTensor", bias)
               .scalar("ValueDataType", "Value", type, 0)
               .set("DiagonalFillBegin", std::int32_t{-0x7FFFFFFF})
               .set("DiagonalFillEnd", std::int32_t{1}));
  return bias;
}

/// What the mask adds to the products: its numbers or, where it says which keys count, 0 or minus
/// infinity.
View mask_bias(Mapping& node, DataType type, const AttentionSizes& sizes) {
  const Sizes all{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  const View mask = node.view(3);
  if (!fits_into(mask.sizes, all))
    Mapping::refuse_invalid("its attn_mask has the sizes " + list_of(mask.sizes),
                            "it is " + list_of(all) + ", or broadcast to that");
  if (!node.in(3).is_boolean) return padded(node.converted(mask, type));
  const View bias = padded(node.temporary(type, mask.sizes));
  node.add(DmlOperator("ELEMENT_WISE_IF")
               .input("ConditionTensor", padded(mask))
               .input("ATensor", broadcast(node.constant_number(type, 0), bias.sizes))
               .input("BTensor", broadcast(node.constant_number(type, never), bias.sizes))
               .output("OutputTensor", bias));
  return bias;
}

std::optional<View> position_bias(Mapping& node, DataType type, const AttentionSizes& sizes) {
  const Sizes all{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  std::optional<View> bias;
  if (node.has(3)) bias = broadcast(mask_bias(node, type, sizes), all);
  if (node.integer("is_causal", 0) == 0) return bias;
  const View causal = broadcast(causal_bias(node, type, sizes), all);
  if (!bias) return causal;
  const View sum = node.temporary(type, all);
  node.add_binary("ELEMENT_WISE_ADD", *bias, causal, sum);
  return sum;
}

void map_standard_attention(Mapping& node) {
  node.require_no_output(3, "qk_matmul_output");
  node.ignore({"qk_matmul_output_mode", "softmax_precision"});  // a device computes as it does
  if (node.real("softcap", 0) != 0) Mapping::refuse("it has a softcap");
  for (const char* side : {"left_window_size", "right_window_size"}) {
    if (node.integer(side, -1) >= 0)
      Mapping::refuse("its queries see a window of the keys only (" + std::string(side) + ")");
  }
  const auto dimensions = [&](std::size_t input) { return node.in(input).sizes.size(); };
  if (dimensions(0) != dimensions(1) || dimensions(0) != dimensions(2))
    Mapping::refuse_invalid("its query, key and value have " + std::to_string(dimensions(0)) +
                                ", " + std::to_string(dimensions(1)) + " and " +
                                counted(dimensions(2), "dimension"),
                            "all three have 3, or all have 4");
  const SideBySide query = side_by_side(node, 0, "query", "q_num_heads");
  const SideBySide key = side_by_side(node, 1, "key", "kv_num_heads");
  const SideBySide value = side_by_side(node, 2, "value", "kv_num_heads");
  const std::uint64_t batch = query.view.sizes[0], rows = key.view.sizes[1];
  Mapping::require_sizes("key", key.view.sizes, {batch, rows, key.heads * query.size},
                         "keys have the batch and the head size of the query");
  Mapping::require_sizes("value", value.view.sizes, {batch, rows, key.heads * value.size},
                         "there is a value for each key");
  DmlOperator operation("MULTIHEAD_ATTENTION1");
  operation.input("QueryTensor", query.view)
      .input("KeyTensor", key.view)
      .input("ValueTensor", value.view);
  AttentionSizes sizes{batch, key.heads, query.view.sizes[1], rows};
  const std::uint64_t past = bind_past(node, operation, 4, sizes, query.size, value.size);
  if (past > 0 && node.integer("is_causal", 0) != 0)
    Mapping::refuse("it is causal and has earlier keys",
                    "versions of ONNX differ in which keys a query sees then");
  sizes.keys += past;
  bind_present(node, operation, sizes, query.size, value.size);
  sizes.heads = query.heads;
  const DataType type = query.view.type;
  if (const auto bias = position_bias(node, type, sizes))
    operation.input("RelativePositionBiasTensor", *bias);
  const Sizes side{batch, sizes.queries, query.heads * value.size};
  const Sizes apart{batch, sizes.queries, query.heads, value.size};
  const bool is_apart = node.in(0).sizes.size() == 4;
  const View to = node.output(
      0, node.in(0), is_apart ? Sizes{batch, query.heads, sizes.queries, value.size} : side);
  const View made = is_apart ? node.temporary(type, side) : to;
  node.add(operation.output("OutputTensor", made)
               .set("Scale", scale_of(node, query.size))
               .set("MaskFilterValue", 0.0F)
               .count("QueryHeadCount", query.heads)
               .count("KeyValueHeadCount", key.heads)
               .choose("MaskType", "NONE"));
  if (is_apart)
    node.add_unary("ELEMENT_WISE_IDENTITY", transposed(reshaped(made, apart), {0, 2, 1, 3}), to);
}

constexpr OnnxOperator standard_attention_table[]{
    {"Attention", "", "MULTIHEAD_ATTENTION1, and operators that make a bias of its mask",
     map_standard_attention},
};

}  // namespace

std::span<const OnnxOperator> standard_attention_rows() {
  return standard_attention_table;
}

}  // namespace dmlop::onnx
