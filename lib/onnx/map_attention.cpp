// MultiHeadAttention and Attention of com.microsoft, which ONNX Runtime's optimizer makes.
#include <algorithm>
#include <cmath>

#include "base/text.hpp"
#include "onnx/attention.hpp"
#include "onnx/rows.hpp"

namespace dmlop::onnx {

std::uint64_t size_of_heads(const char* what, std::uint64_t hidden, std::uint64_t heads) {
  if (hidden % heads == 0 && hidden > 0) return hidden / heads;
  Mapping::refuse_invalid("its " + std::string(what) + " has " + std::to_string(hidden) +
                              " for its last dimension, which does not fit its " +
                              counted(heads, "head"),
                          "all heads have the same size");
}

float scale_of(const Mapping& node, std::uint64_t head_size) {
  const float scale = node.real("scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<float>(head_size));
}

void require_plain_attention(const Mapping& node, std::size_t past) {
  node.require_no_input(past, "past");
  node.require_no_output(1, "present");
  for (const char* flag : {"unidirectional", "do_rotary", "past_present_share_buffer"}) {
    if (node.integer(flag, 0) != 0)
      Mapping::refuse("it has " + std::string(flag), "the provider does not support that");
  }
}

bool has_elements(const Mapping& node, std::size_t input) {
  return node.has(input) && element_count(node.in(input).sizes) != 0;
}

View heads_side_by_side(Mapping& node, const View& view) {
  const Sizes sizes = view.sizes;
  return reshaped(node.packed(transposed(view, {0, 2, 1, 3})),
                  {sizes[0], sizes[2], sizes[1] * sizes[3]});
}

void require_both_past(const Mapping& node, std::size_t input) {
  if (node.has(input) == node.has(input + 1)) return;
  const bool has_keys = node.has(input);
  Mapping::refuse_invalid("its " + std::string(has_keys ? "past_value" : "past_key") +
                              " is missing, but it has a " + (has_keys ? "past_key" : "past_value"),
                          "earlier keys come with their values");
}

std::uint64_t bind_past(Mapping& node, DmlOperator& operation, std::size_t input,
                        const AttentionSizes& sizes, std::uint64_t size, std::uint64_t value_size) {
  require_both_past(node, input);
  if (!has_elements(node, input) && !has_elements(node, input + 1)) return 0;
  const View keys = node.view(input), values = node.view(input + 1);
  const std::uint64_t rows = keys.sizes.size() == 4 ? keys.sizes[2] : 0;
  const char* const rule = "earlier ones are {batch, heads, rows, size}";
  Mapping::require_sizes("past_key", keys.sizes, {sizes.batch, sizes.heads, rows, size}, rule);
  Mapping::require_sizes("past_value", values.sizes, {sizes.batch, sizes.heads, rows, value_size},
                         rule);
  operation.input("PastKeyTensor", keys).input("PastValueTensor", values);
  return rows;
}

void bind_present(Mapping& node, DmlOperator& operation, const AttentionSizes& sizes,
                  std::uint64_t size, std::uint64_t value_size) {
  const auto bind = [&](std::size_t output, const char* field, std::uint64_t width) {
    if (node.wants(output))
      operation.output(
          field, node.output(output, node.in(0), {sizes.batch, sizes.heads, sizes.keys, width}));
  };
  bind(1, "OutputPresentKeyTensor", size);
  bind(2, "OutputPresentValueTensor", value_size);
}

bool fits_into(const Sizes& sizes, const Sizes& all) {
  if (sizes.size() > all.size()) return false;
  const std::size_t skip = all.size() - sizes.size();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != 1 && sizes[i] != all[skip + i]) return false;
  }
  return true;
}

namespace {

/// A mask of one number for each key {batch, 1, queries or 1, keys}, or for places from which the
/// first ones are taken, as a tensor for all heads.
View mask_of_keys(View mask, const AttentionSizes& sizes) {
  const Sizes written = mask.sizes;
  mask.sizes.insert(mask.sizes.begin() + 1, 4 - mask.sizes.size(), 1);
  const bool has_all = mask.sizes[2] == mask.sizes[3] && mask.sizes[3] > sizes.keys;
  if (written.size() == 4 && has_all && sizes.queries == sizes.keys)
    mask = cropped(mask, {mask.sizes[0], mask.sizes[1], sizes.queries, sizes.keys});
  const Sizes all{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (mask.sizes[i] != all[i] && (mask.sizes[i] != 1 || i == 3))
      Mapping::refuse_invalid("its mask has the sizes " + list_of(written),
                              "a mask of keys is " + list_of(Sizes{sizes.batch, sizes.keys}) +
                                  ", " + list_of(Sizes{sizes.batch, sizes.queries, sizes.keys}) +
                                  " or " + list_of(all));
  }
  return broadcast(mask, all);
}

/// The mask is a length or bounds for each sequence, bounds of packed sequences, or which keys
/// count. Returns whether it is the last.
bool add_mask(Mapping& node, DmlOperator& operation, std::size_t input,
              const AttentionSizes& sizes) {
  if (!node.has(input)) {
    operation.choose("MaskType", "NONE");
    return false;
  }
  View mask = node.view(input);
  if (mask.type != DataType::Int32)
    Mapping::refuse_invalid("its mask is " + std::string(name_of(mask.type)),
                            "a mask is INT32: lengths, bounds, or 0 where a key does not count");
  const std::uint64_t count = mask.sizes.size() == 1 ? mask.sizes[0] : 0;
  const std::string of_keys = "BOOLEAN";
  std::string type = of_keys;
  if (count == sizes.batch) {
    type = "KEY_SEQUENCE_LENGTH";
    mask.sizes = {1, sizes.batch};
  } else if (count == 2 * sizes.batch) {
    type = "KEY_SEQUENCE_END_START";
    mask.sizes = {2, sizes.batch};
  } else if (count == 3 * sizes.batch + 2) {
    type = "KEY_QUERY_SEQUENCE_LENGTH_START_END";
  } else if (mask.sizes.size() < 2 || mask.sizes.size() > 4) {
    Mapping::refuse_invalid("its mask has the sizes " + list_of(mask.sizes),
                            "a mask of one dimension has batch, 2 * batch or 3 * batch + 2 "
                            "elements, and the batch is " +
                                std::to_string(sizes.batch));
  } else {
    mask = mask_of_keys(mask, sizes);
  }
  operation.input("MaskTensor", mask).choose("MaskType", type);
  return type == of_keys;
}

/// What is added to the products of queries and keys. DirectML scales it as it scales these if it
/// has a mask of keys.
void add_position_bias(Mapping& node, DmlOperator& operation, std::size_t input,
                       const AttentionSizes& sizes, bool has_mask_of_keys, float scale) {
  if (!node.has(input)) return;
  if (has_mask_of_keys && scale != 1)
    node.warnings.push_back({"its attention_bias is multiplied by " + rounded(double{scale}) +
                                 ", as the products of queries and keys are",
                             "DirectML scales the bias if there is a mask of keys; ONNX Runtime's "
                             "other providers do not",
                             "give the mask as lengths, or add it to the attention_bias"});
  const View bias = node.view(input);
  const Sizes all{sizes.batch, sizes.heads, sizes.queries, sizes.keys};
  if (bias.sizes.size() != 4 || bias.sizes[2] != all[2] || bias.sizes[3] != all[3] ||
      !fits_into(bias.sizes, all))
    Mapping::refuse_invalid("its attention_bias has the sizes " + list_of(bias.sizes),
                            "it is " + list_of(all) + ", or 1 for the batch or the heads");
  operation.input("RelativePositionBiasTensor", broadcast(bias, all));
}

/// Queries, keys and values, apart or stacked: their numbers without earlier keys, the size of a
/// head, and that of a head of the values.
struct BoundHeads {
  AttentionSizes sizes;
  std::uint64_t size = 0, value_size = 0;
};

BoundHeads bind_keys_and_values(Mapping& node, DmlOperator& operation, const View& query,
                                std::uint64_t heads) {
  if (query.sizes.size() != 3)
    Mapping::refuse_invalid("its query has the sizes " + list_of(query.sizes),
                            "it is {batch, rows, heads * size} or {batch, rows, heads, 3, size}");
  operation.input("QueryTensor", query);
  const std::uint64_t batch = query.sizes[0], queries = query.sizes[1];
  const std::uint64_t size = size_of_heads("query", query.sizes[2], heads);
  View key = node.view(1);
  if (key.sizes.size() == 5) {
    if (node.has(2))
      Mapping::refuse_invalid("its key has values in it, but it has others, too",
                              "without a value, keys and values come together");
    Mapping::require_sizes("key", key.sizes, {batch, key.sizes[1], heads, 2, size},
                           "keys and values together are {batch, rows, heads, 2, size}");
    operation.input("StackedKeyValueTensor", key);
    return {{batch, heads, queries, key.sizes[1]}, size, size};
  }
  View value = node.view(2);
  if (key.sizes.size() == 4 && value.sizes.size() == 4) {
    if (node.has(3)) Mapping::refuse("it has a bias for keys that another node made");
    if (node.has(6) || node.has(7))
      Mapping::refuse("it has a past and keys {batch, heads, rows, size}",
                      "such keys are all that there are");
    key = heads_side_by_side(node, key);
    value = heads_side_by_side(node, value);
  }
  if (key.sizes.size() != 3 || value.sizes.size() != 3)
    Mapping::refuse_invalid(
        "its key and value have the sizes " + list_of(node.in(1).sizes) + " and " +
            list_of(node.in(2).sizes),
        "they are {batch, rows, heads * size} or {batch, heads, rows, size}, or together "
        "{batch, rows, heads, 2, size}");
  Mapping::require_sizes("key", key.sizes, {batch, key.sizes[1], query.sizes[2]},
                         "keys have the batch and the heads of the query");
  Mapping::require_sizes("value", value.sizes, {batch, key.sizes[1], value.sizes[2]},
                         "there is a value for each key");
  operation.input("KeyTensor", key).input("ValueTensor", value);
  return {
      {batch, heads, queries, key.sizes[1]}, size, size_of_heads("value", value.sizes[2], heads)};
}

BoundHeads bind_heads(Mapping& node, DmlOperator& operation) {
  const std::uint64_t heads = node.required_count("num_heads");
  const View query = node.view(0);
  if (query.sizes.size() != 5) return bind_keys_and_values(node, operation, query, heads);
  if (node.has(1) || node.has(2))
    Mapping::refuse_invalid("its query has keys and values in it, but it has others, too",
                            "without a key and a value, all three come together");
  const Sizes& sizes = query.sizes;
  Mapping::require_sizes("query", query.sizes, {sizes[0], sizes[1], heads, 3, sizes[4]},
                         "queries, keys and values together are {batch, rows, heads, 3, size}");
  operation.input("StackedQueryKeyValueTensor", query);
  return {{sizes[0], heads, sizes[1], sizes[1]}, sizes[4], sizes[4]};
}

void map_multihead_attention(Mapping& node) {
  node.require_no_input(8, "past_sequence_length");
  node.require_no_input(9, "cache_indirection");
  node.require_no_output(3, "qk");
  if (node.integer("unidirectional", 0) != 0) Mapping::refuse("it is unidirectional");
  DmlOperator operation("MULTIHEAD_ATTENTION");
  const BoundHeads bound = bind_heads(node, operation);
  AttentionSizes sizes = bound.sizes;
  if (node.has(3)) operation.input("BiasTensor", node.view(3));
  sizes.keys += bind_past(node, operation, 6, sizes, bound.size, bound.value_size);
  const bool has_mask_of_keys = add_mask(node, operation, 4, sizes);
  add_position_bias(node, operation, 5, sizes, has_mask_of_keys, scale_of(node, bound.size));
  const Value& query = node.in(0);
  operation.output(
      "OutputTensor",
      node.output(0, query, {sizes.batch, sizes.queries, sizes.heads * bound.value_size}));
  bind_present(node, operation, sizes, bound.size, bound.value_size);
  node.add(operation.set("Scale", scale_of(node, bound.size))
               .set("MaskFilterValue", node.real("mask_filter_value", -10000))
               .count("HeadCount", sizes.heads));
}

/// How many columns of the projection are queries, and keys, and values.
struct Columns {
  std::uint64_t queries = 0, values = 0;
};

Columns columns_of(const Mapping& node, std::uint64_t all) {
  const std::vector<std::int64_t> written = node.integers("qkv_hidden_sizes");
  if (written.empty() && all % 3 == 0) return {all / 3, all / 3};
  const auto column = [&](std::size_t i) { return static_cast<std::uint64_t>(written[i]); };
  const bool is_right = written.size() == 3 &&
                        std::ranges::all_of(written, [](auto size) { return size > 0; }) &&
                        written[0] == written[1] && column(0) + column(1) + column(2) == all;
  if (!is_right)
    Mapping::refuse_invalid(
        "its weights have " + std::to_string(all) + " columns",
        "they are as many for the queries as for the keys, and those for the values: a third "
        "each, or what qkv_hidden_sizes says");
  return {column(0), column(2)};
}

/// The input with its weights and biases: {batch * rows, columns}.
View projection(Mapping& node, const View& input, const View& weights) {
  const std::uint64_t rows = input.sizes[0] * input.sizes[1], columns = weights.sizes[1];
  const View made = node.temporary(input.type, {rows, columns});
  DmlOperator operation("GEMM");
  operation.input("ATensor", reshaped(input, {rows, input.sizes[2]})).input("BTensor", weights);
  if (node.has(2)) {
    const View bias = node.view(2);
    Mapping::require_sizes("bias", bias.sizes, {columns},
                           "there is one for each column of the weights");
    operation.input("CTensor", broadcast(bias, made.sizes));
  }
  node.add(operation.output("OutputTensor", made)
               .choose("TransA", "NONE")
               .choose("TransB", "NONE")
               .set("Alpha", 1.0F)
               .set("Beta", 1.0F));
  return made;
}

/// {batch, rows, parts, heads, size} as {batch, rows, heads, parts, size}.
View stacked(Mapping& node, const View& view, const Sizes& sizes) {
  return node.packed(transposed(reshaped(view, sizes), {0, 1, 3, 2, 4}));
}

void map_attention(Mapping& node) {
  require_plain_attention(node, 4);
  node.require_no_input(6, "past_sequence_length");
  node.ignore({"rotary_embedding_dim"});  // of do_rotary
  const View input = node.view(0), weights = node.view(1);
  if (input.sizes.size() != 3 || weights.sizes.size() != 2 || weights.sizes[0] != input.sizes[2])
    Mapping::refuse_invalid("its input and weights have the sizes " + list_of(input.sizes) +
                                " and " + list_of(weights.sizes),
                            "they are {batch, rows, size} and {size, columns}");
  const std::uint64_t heads = node.required_count("num_heads");
  const Columns columns = columns_of(node, weights.sizes[1]);
  const std::uint64_t size = size_of_heads("query", columns.queries, heads);
  size_of_heads("value", columns.values, heads);
  const std::uint64_t batch = input.sizes[0], rows = input.sizes[1];
  const View made = projection(node, input, weights);
  DmlOperator operation("MULTIHEAD_ATTENTION");
  if (columns.queries == columns.values) {
    operation.input("StackedQueryKeyValueTensor",
                    stacked(node, made, {batch, rows, 3, heads, size}));
  } else {
    const View both = node.temporary(made.type, {batch * rows, 2 * columns.queries});
    const View value = node.temporary(made.type, {batch * rows, columns.values});
    node.add(DmlOperator("SPLIT")
                 .input("InputTensor", padded(made))
                 .outputs("OutputTensors", {padded(both), padded(value)})
                 .count("Axis", 3));
    operation.input("StackedQueryKeyTensor", stacked(node, both, {batch, rows, 2, heads, size}))
        .input("ValueTensor", reshaped(value, {batch, rows, columns.values}));
  }
  const AttentionSizes sizes{batch, heads, rows, rows};
  const bool has_mask_of_keys = add_mask(node, operation, 3, sizes);
  add_position_bias(node, operation, 5, sizes, has_mask_of_keys, scale_of(node, size));
  node.add(
      operation.output("OutputTensor", node.output(0, node.in(0), {batch, rows, columns.values}))
          .set("Scale", scale_of(node, size))
          .set("MaskFilterValue", node.real("mask_filter_value", -10000))
          .count("HeadCount", heads));
}

constexpr OnnxOperator attention_table[]{
    {"MultiHeadAttention", microsoft, "MULTIHEAD_ATTENTION", map_multihead_attention},
    {"Attention", microsoft, "GEMM, MULTIHEAD_ATTENTION", map_attention},
};

}  // namespace

std::span<const OnnxOperator> attention_rows() {
  return attention_table;
}

}  // namespace dmlop::onnx
